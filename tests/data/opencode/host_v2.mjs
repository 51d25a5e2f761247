// A stand-in for OpenCode 2, built from its documentation: `setup(ctx)` registers hooks, events arrive by subscription.
// `node host_v2.mjs PLUGIN < STEPS`.

import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const { steps, sessions = {}, events = [], without = [] } = JSON.parse(readFileSync(0, "utf8"))
const module = await import(pathToFileURL(process.argv[2]).href)
const { id, setup } = module.default
if (id !== "lazaret" || typeof setup !== "function") throw new Error("not a version 2 plugin")

const hooks = {}
const register = (domain) => async (name, callback) => {
  if (without.includes(`${domain}.${name}`)) throw new Error(`no hook ${domain}.${name}`)
  hooks[`${domain}.${name}`] = callback
  return { dispose() {} }
}
const ctx = {
  location: { directory: "/home/u/here" },
  tool: { hook: register("tool") },
  session: { hook: register("session"), get: async ({ sessionID }) => sessions[sessionID] },
  event: {
    async *subscribe({ signal }) {
      yield* events
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
    },
  },
}
const cleanup = await setup(ctx)

const results = []
for (const { hook, event } of steps) {
  const input = event.input
  const result = { event }
  try {
    await hooks[hook](event)
    result.input = input
  } catch (error) {
    result.error = error.message
  }
  results.push(result)
}
if (typeof cleanup === "function") await cleanup()
console.log(JSON.stringify(results))
