// The lazaret gate inside OpenCode: shows every tool call to the lazaret binary, and throws unless it answers.
// One file for both generations of OpenCode: version 1 (1.18.29 or later) calls `server`, version 2 calls `setup`.
// It decides nothing. No other exports: OpenCode 1 drops a file that has one, and the session goes on unguarded.

import { spawn, spawnSync } from "node:child_process"

// Both are written by `lazaret install`. They are constants, not environment variables: those an agent or a project could set.
const BIN = "@LAZARET_BIN@"
const PLACES = []
const TIMEOUT_MS = 5000

// All of the environment that the binary gets: switches that can only tighten, what the user's notice command may need, and the
// variables about places, which it compares with its own and goes by none of.
const VARIABLES = [
  "LAZARET_QUARANTINE", "LAZARET_PROFILE",
  "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LANG", "LC_ALL", "LOGNAME", "WAYLAND_DISPLAY", "XAUTHORITY",
  "HOME", "USER", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LAZARET_HOME", "LAZARET_KEYS",
  "CLAUDE_CONFIG_DIR", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG",
]
const COMMAND = ["hook", "opencode", ...PLACES]

const MAX_BYTES = 16 * 1024 * 1024
// A look-up that takes longer than this would hang the session: OpenCode has no time-out for hooks.
const LOOKUP_MS = 2000
// A stopped session's run is ended so long after the answer that stopped it.
const ABORT_MS = 250
// What a terminal shows of a message, the way to allow the call at its end included, and for how long: long enough to read it and
// to type a code.
const MAX_SHOWN_CHARS = 500
const SHOWN_MS = 20_000
// Forwarded reports carry the outcome of a call, not its whole output.
const MAX_REPORT_CHARS = 4000
// Sessions and warnings that are remembered; the oldest go first.
const MAX_REMEMBERED = 1000
// Sessions inside sessions that are followed to their root.
const MAX_DEPTH = 16

// How the error of a call begins that a person, or we, ended: no failure of the agent's.
const ABORTED = "Tool execution aborted"

// Tools that start an agent: what it reports is handed on only after the binary has looked at it.
const SPAWNS = ["task", "subagent"]

const EVENTS = ["session.created", "session.deleted", "session.error"]

// --- What the binary is told and answers ------------------------------------------------------------------------

class Blocked extends Error {}

function blocked(why) {
  return new Blocked(
    `lazaret could not check this call (${why}), so it does not run. ` +
      "Repeating it will not help: ask the person to run `lazaret doctor`.",
  )
}

// What stands in the place of a report that could not be looked at.
function withheld(why) {
  const next = "ask the person to run `lazaret doctor`; the agent's own words are not shown"
  return JSON.stringify({ lazaret: "review failed", why: `lazaret could not check the report (${why})`, next })
}

function environment() {
  return Object.fromEntries(VARIABLES.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]))
}

// The answer to a message, or an exception. Only exit code 0 with exactly one well-formed line lets a call run.
function ask(message) {
  const result = spawnSync(BIN, COMMAND, {
    env: environment(),
    input: JSON.stringify(message),
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: MAX_BYTES,
    windowsHide: true,
  })
  const answer = parse(result.stdout)
  if (answer?.action === "block" && text(answer.message)) {
    throw Object.assign(new Blocked(answer.message), { stop: answer.stop === true })
  }
  if (result.error) throw blocked(result.error.code ?? "the binary cannot be run")
  if (result.signal) throw blocked(`the binary was ended by ${result.signal}`)
  if (result.status !== 0) throw blocked(`the binary ended with exit code ${result.status}`)
  if (answer?.action !== "allow" && answer?.action !== "modify") throw blocked("the binary gave no usable answer")
  return answer
}

function parse(stdout) {
  const text = (stdout ?? "").trim()
  if (!text || text.includes("\n")) return undefined
  try {
    const answer = JSON.parse(text)
    return isObject(answer) ? answer : undefined
  } catch {
    return undefined
  }
}

// Tells the binary about something that has happened. Nobody waits for it and nothing comes of its failure.
function report(message) {
  try {
    const child = spawn(BIN, COMMAND, {
      env: environment(),
      stdio: ["pipe", "ignore", "ignore"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      windowsHide: true,
    })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(message))
    child.unref()
  } catch {
    // The gate for calls does not depend on it.
  }
}

// --- What is remembered between hooks -----------------------------------------------------------------------------

// A map that forgets its oldest entry.
class Memory extends Map {
  set(key, value) {
    this.delete(key)
    super.set(key, value)
    if (this.size > MAX_REMEMBERED) this.delete(this.keys().next().value)
    return this
  }
}

function within(promise, ms) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the look-up took too long")), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
const text = (value) => (typeof value === "string" && value !== "" ? value : undefined)
const clip = (value) => (typeof value === "string" ? value.slice(0, MAX_REPORT_CHARS) : undefined)

// The gate for one client. `lookup(sessionID)` resolves to `{ agent, parent, directory }` as far as the client knows;
// `abort(sessionID)` ends what the session is doing, and `show(message, variant)` puts a message before the person, where the
// client can.
function gate(lookup, abort, show) {
  const agents = new Memory() // sessionID -> name of the agent
  const sessions = new Memory() // sessionID -> { agent, parent, directory }
  const prompts = new Memory() // sessionID -> id of the last message a person wrote
  const warnings = new Memory() // callID -> text for the model
  const begun = new Memory() // callID -> the call, until its end is reported
  const late = new Memory() // sessionID -> advice that waits for a result to come with
  const reminders = new Memory() // sessionID -> what its model is told since its context was cut short

  // What is known of a session. A look-up that fails is not tried again: the calls would wait for it each time.
  async function session(id) {
    return sessions.get(id) ?? (await learn(id))
  }

  async function learn(id) {
    const found = await within(Promise.resolve(lookup(id)), LOOKUP_MS).catch(() => ({}))
    const info = { agent: text(found.agent), parent: text(found.parent), directory: text(found.directory) }
    sessions.set(id, info)
    return info
  }

  // The session that a subagent's session hangs on; without an answer, the session itself.
  async function root(id) {
    let at = id
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const { parent } = await session(at)
      if (!parent) break
      at = parent
    }
    return at
  }

  // A person may change the agent of a session with any message, so what the last one said comes first.
  async function agentOf(id) {
    return agents.get(id) ?? (await session(id)).agent ?? (await learn(id)).agent
  }

  // Adds who and where to a message; `where` is what the client says itself.
  async function frame(message, id, where) {
    const top = await root(id)
    return {
      ...message,
      directory: where.directory ?? (await session(id)).directory ?? process.cwd(),
      agent: where.agent ?? (await agentOf(id)),
      root: top === id ? undefined : top,
      prompt: prompts.get(top),
    }
  }

  // Asks, and ends the run where the answer says that the session is stopped: the next call would be refused anyway.
  async function heeding(id, question) {
    let stop = false
    try {
      const answer = question()
      stop = answer.stop === true
      return answer
    } catch (error) {
      stop = error?.stop === true
      throw error
    } finally {
      // A little later, so that the model and the person are told of this call. The next one is refused anyway.
      if (stop) setTimeout(() => root(id).then(abort).catch(() => {}), ABORT_MS)
    }
  }

  // Puts before the person what the model is given. Nobody waits for it, and nothing comes of its failure.
  function display(message, variant) {
    Promise.resolve()
      .then(() => show(shortened(message), variant))
      .catch(() => {})
  }

  // Throws, or lets the call run with `args` changed in place.
  async function before(call, args, where) {
    const question = { event: "tool.execute.before", input: call, output: { args: args ?? {} } }
    const message = await frame(question, call.sessionID, where)
    // Without its name nobody can tell whether an agent is quarantined.
    if (!message.agent) throw blocked("OpenCode does not say which agent makes it")
    let answer
    try {
      answer = await heeding(call.sessionID, () => ask(message))
    } catch (error) {
      display(error.message, "error")
      throw error
    }
    if (answer.action === "modify") {
      if (!isObject(answer.args) || !isObject(args)) throw blocked("the binary changes arguments that are not there")
      for (const [name, value] of Object.entries(answer.args)) {
        if (value === null) delete args[name]
        else args[name] = value
      }
    }
    if (text(answer.message)) display(answer.message, "warning")
    if (text(answer.message) && call.callID) warnings.set(call.callID, answer.message)
    if (call.callID) begun.set(call.callID, { call, args, where })
  }

  // Puts what the binary wants in the place of an agent's report. Never throws: where the binary fails, no word of the
  // report is left.
  async function inspect(call, args, result, where, error) {
    let instead
    try {
      const input = { ...call, args: args ?? {} }
      const output = { output: said(result), metadata: { sessionId: child(result) } }
      if (error !== undefined) Object.assign(output, outcome(undefined, error))
      const answer = ask(await frame({ event: "tool.execute.after", input, output }, call.sessionID, where))
      if (answer.action === "modify") instead = text(answer.output) ?? withheld("the binary gave no usable answer")
    } catch (error) {
      instead = withheld(text(error?.message) ?? "unknown trouble")
    }
    return instead
  }

  // Tells the binary how a call ended, and gives back what the model should know of the way it works. Never throws: a throw
  // after a call would turn one that was made into an error.
  async function ended(call, args, output, where) {
    try {
      begun.delete(call.callID)
      const message = { event: "tool.execute.after", input: { ...call, args: args ?? {} }, output }
      const framed = await frame(message, call.sessionID, where)
      return text((await heeding(call.sessionID, () => ask(framed))).message)
    } catch {
      return undefined
    }
  }

  // A tool that throws has no hook after it, only an event that nobody waits for: what is to be said comes with the next result.
  async function failed(part) {
    const known = begun.get(part.callID)
    begun.delete(part.callID)
    const error = text(part.state.error)
    if (!known || !error || error.startsWith(ABORTED) || SPAWNS.includes(known.call.tool)) return
    const advice = await ended(known.call, known.args, outcome(undefined, error), known.where)
    if (advice) late.set(known.call.sessionID, advice)
  }

  // The context of a session is about to be cut short: what its model is told from then on. Never throws.
  async function remind(id, where) {
    try {
      const message = await frame({ event: "experimental.session.compacting", input: { sessionID: id } }, id, where)
      const reminder = text(ask(message).message)
      if (reminder) reminders.set(id, reminder)
      return reminder
    } catch {
      return undefined
    }
  }

  // What the model has to be told about a call that ran.
  function warning(callID) {
    const message = warnings.get(callID)
    warnings.delete(callID)
    return message
  }

  // What is still to be said in a session.
  function advice(id) {
    const message = late.get(id)
    late.delete(id)
    return message
  }

  // Reports what has happened; never throws, never waits.
  function tell(message, id, where) {
    frame(message, id, where).then(report, () => {})
  }

  // Reports an event of the client, if it is one that counts.
  function hear(type, properties, where) {
    try {
      const part = type === "message.part.updated" && properties?.part
      if (part?.type === "tool" && part.state?.status === "error") failed(part)
      if (part) return
      const event = digest(type, properties)
      const id = event.properties.sessionID
      const info = event.properties.info
      if (!id) return
      if (type === "session.created" && info) {
        const directory = text(properties.info.location?.directory) ?? text(properties.info.directory)
        sessions.set(id, { agent: text(info.agent), parent: text(info.parentID), directory })
      }
      // A subagent that falls silent has done its work.
      const idle = type === "session.idle" && sessions.get(id)?.parent
      if (!idle && !EVENTS.includes(type) && !type.startsWith("permission.")) return
      tell({ event: "event", input: { event } }, id, { ...where, agent: text(info?.agent) })
    } catch {
      // An event is news, not a question.
    }
  }

  return { agents, prompts, reminders, before, inspect, ended, remind, warning, advice, tell, hear }
}

// A long message with whole lines left out of its middle: its first names the rule, and its last say who can allow the call.
function shortened(message) {
  const lines = message.split("\n")
  if (message.length <= MAX_SHOWN_CHARS || lines.length < 5) return message.slice(0, 2 * MAX_SHOWN_CHARS)
  return [...lines.slice(0, 3), "…", ...lines.slice(Math.max(3, lines.length - 2))].join("\n").slice(0, 2 * MAX_SHOWN_CHARS)
}

// The text of a result, in any of its shapes.
function said(result) {
  if (typeof result === "string") return result
  if (typeof result?.output === "string") return result.output
  if (typeof result?.content === "string") return result.content
  if (!Array.isArray(result?.content)) return undefined
  return result.content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("\n")
}

// The session of the agent that ran.
const child = (result) => text(result?.metadata?.sessionId) ?? text(result?.metadata?.sessionID)

// The result with nothing in it but `instead`, changed in place: OpenCode goes on with the object it handed out.
function overwrite(result, instead) {
  const sessionId = child(result)
  for (const name of Object.keys(result)) {
    if (name === "content") result.content = Array.isArray(result.content) ? [{ type: "text", text: instead }] : instead
    else if (name === "output") result.output = instead
    else if (name === "metadata") result.metadata = sessionId ? { sessionId } : {}
    else if (name === "title") result.title = "a review in quarantine"
    else delete result[name]
  }
  if (!("content" in result)) result.output = instead
}

// Puts a warning where the model reads it: text results have `output`, results of MCP servers have `content`.
function append(result, warning) {
  if (!warning || !isObject(result)) return
  if (Array.isArray(result.content)) result.content.push({ type: "text", text: warning })
  else if (typeof result.content === "string") result.content = `${result.content}\n\n${warning}`
  else result.output = `${result.output ?? ""}\n\n${warning}`
}

// The part of a result that is reported.
function outcome(result, error) {
  if (error !== undefined) return { error: clip(text(error?.message) ?? String(error)) ?? "failed" }
  const exit = result?.metadata?.exit
  return { output: clip(result?.output), metadata: typeof exit === "number" ? { exit } : undefined }
}

// The part of an event that is reported.
function digest(type, properties) {
  const info = properties?.info
  return {
    type,
    properties: {
      sessionID: text(properties?.sessionID) ?? text(info?.id),
      info: info && { id: info.id, parentID: info.parentID, agent: info.agent, title: clip(info.title) },
    },
  }
}

// --- OpenCode 1 ---------------------------------------------------------------------------------------------------

async function server(ctx) {
  const here = { directory: text(ctx?.directory) }
  const core = gate(async (id) => {
    const found = await ctx.client.session.get({ path: { id } })
    const info = found?.data ?? found
    return { agent: info?.agent, parent: info?.parentID, directory: info?.directory }
  }, (id) => ctx.client.session.abort({ path: { id } }), (message, variant) =>
    ctx.client.tui.showToast({ body: { title: "lazaret", message, variant, duration: SHOWN_MS } }))
  return {
    "tool.execute.before": async (input, output) => {
      const call = { tool: input.tool, sessionID: input.sessionID, callID: input.callID }
      await core.before(call, output.args, here)
    },

    "tool.execute.after": async (input, output) => {
      if (SPAWNS.includes(input.tool)) {
        const call = { tool: input.tool, sessionID: input.sessionID, callID: input.callID }
        const instead = await core.inspect(call, input.args, output, here)
        if (instead !== undefined) overwrite(output, instead)
        append(output, core.warning(input.callID))
        return
      }
      try {
        append(output, core.warning(input.callID))
        append(output, core.advice(input.sessionID))
        const call = { tool: input.tool, sessionID: input.sessionID, callID: input.callID }
        append(output, await core.ended(call, input.args, outcome(output), here))
      } catch {
        // A throw in here would turn a call that was made into an error.
      }
    },

    "chat.message": async (input, output) => {
      try {
        const agent = text(output?.message?.agent) ?? text(input.agent)
        if (agent) core.agents.set(input.sessionID, agent)
        // What the person says now counts.
        core.reminders.delete(input.sessionID)
        if (text(output?.message?.id)) core.prompts.set(input.sessionID, output.message.id)
        const parts = (output?.parts ?? []).filter((part) => part?.type === "text")
        const message = {
          event: "chat.message",
          input: { sessionID: input.sessionID },
          output: { parts: parts.map(({ text, synthetic }) => ({ type: "text", text, synthetic })) },
        }
        core.tell(message, input.sessionID, { ...here, agent })
      } catch {
        // A throw in here would swallow what the person wrote.
      }
    },

    // The summary is told, and every request after it: what a summary leaves out would be lost.
    "experimental.session.compacting": async (input, output) => {
      const reminder = await core.remind(input.sessionID, here)
      if (reminder && Array.isArray(output?.context)) output.context.push(reminder)
    },

    "experimental.chat.system.transform": async (input, output) => {
      const reminder = core.reminders.get(input?.sessionID)
      if (reminder && Array.isArray(output?.system)) output.system.push(reminder)
    },

    event: async ({ event }) => core.hear(event.type, event.properties, here),
  }
}

// --- OpenCode 2 ---------------------------------------------------------------------------------------------------

// An agent is named by text, or by an object that holds the name.
const nameOf = (agent) => text(agent) ?? text(agent?.id) ?? text(agent?.name)

async function setup(ctx) {
  // One plugin serves sessions of several directories; its own is only the last resort.
  const here = text(ctx.location?.directory)
  const core = gate(async (id) => {
    const found = await ctx.session.get({ sessionID: id })
    const info = found?.data ?? found
    const directory = text(info?.location?.directory) ?? text(info?.directory) ?? here
    return { agent: nameOf(info?.agent), parent: info?.parentID, directory }
  }, () => {}, () => {})
  const call = (event) => ({ tool: event.tool, sessionID: event.sessionID, callID: event.id ?? event.callID })

  await ctx.tool.hook("execute.before", async (event) => {
    await core.before(call(event), event.input, { agent: nameOf(event.agent) })
  })

  await ctx.tool.hook("execute.after", async (event) => {
    const failed = event.status === "error"
    if (SPAWNS.includes(event.tool)) {
      const where = { agent: nameOf(event.agent) }
      const args = isObject(event.input) ? event.input : {}
      const error = failed ? (event.error ?? "failed") : undefined
      const instead = await core.inspect(call(event), args, event.result, where, error)
      if (instead !== undefined && failed) event.error = typeof event.error === "string" ? instead : { message: instead }
      if (instead !== undefined && isObject(event.result)) overwrite(event.result, instead)
      else if (instead !== undefined && (!failed || event.result)) event.result = { output: instead }
      append(event.result, core.warning(call(event).callID))
      return
    }
    try {
      if (!failed) append(event.result, core.warning(call(event).callID))
      const output = failed ? outcome(undefined, event.error ?? "failed") : outcome(event.result)
      const args = isObject(event.input) ? event.input : {}
      const advice = await core.ended(call(event), args, output, { agent: nameOf(event.agent) })
      if (failed && advice) event.error = `${text(event.error?.message) ?? text(event.error) ?? "failed"}\n\n${advice}`
      else append(event.result, advice)
    } catch {
      // A throw in here would turn a call that was made into an error.
    }
  })

  // What follows only reports; a version of OpenCode without it is guarded all the same.
  try {
    await ctx.session.hook("prompt", async (event) => {
      const prompt = text(event?.prompt?.text)
      if (!prompt) return
      const message = {
        event: "chat.message",
        input: { sessionID: event.sessionID },
        output: { parts: [{ type: "text", text: prompt }] },
      }
      core.tell(message, event.sessionID, {})
    })
  } catch {}
  const stop = new AbortController()
  listen(ctx, core, stop.signal).catch(() => {})
  return () => stop.abort()
}

async function listen(ctx, core, signal) {
  for await (const event of ctx.event.subscribe({ signal })) {
    core.hear(event?.type, event?.properties ?? event?.data, {})
  }
}

export default { id: "lazaret", server, setup }
