// A stand-in for OpenCode 1: loads the plugin as it does, runs the steps given on standard input one after the other,
// and prints what came of each. `node host_v1.mjs PLUGIN < STEPS`.

import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const { steps, sessions = {}, lookup = "answers" } = JSON.parse(readFileSync(0, "utf8"))
const module = await import(pathToFileURL(process.argv[2]).href)

// OpenCode 1.18 voids a file with any other export.
if (Object.keys(module).join() !== "default") throw new Error("one export only")
const { id, server } = module.default
if (id !== "lazaret" || typeof server !== "function") throw new Error("not a version 1 plugin")

let lookups = 0
const aborted = []
const toasts = []
const client = {
  session: {
    get: async ({ path }) => {
      lookups++
      if (lookup === "hangs") return new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      if (lookup === "throws") throw new Error("no such session")
      return { data: sessions[path.id] }
    },
    abort: async ({ path }) => void aborted.push(path.id),
  },
  tui: {
    showToast: async ({ body }) => {
      toasts.push(body)
      if (lookup === "throws") throw new Error("no terminal")
    },
  },
}
const hooks = await server({ client, directory: "/home/u/proj", worktree: "/", project: { id: "global" } })

const results = []
for (const { hook, input, output } of steps) {
  const args = output?.args
  const result = { output, lookups: 0 }
  try {
    if (hook === "wait") await new Promise((resolve) => setTimeout(resolve, input))
    else await (hook === "event" ? hooks.event(input) : hooks[hook](input, output))
    // What OpenCode goes on with is the object it handed out, whatever the plugin puts in its place.
    result.args = args
  } catch (error) {
    result.error = error.message
  }
  result.lookups = lookups
  result.aborted = [...aborted]
  result.toasts = [...toasts]
  results.push(result)
}
console.log(JSON.stringify(results))
