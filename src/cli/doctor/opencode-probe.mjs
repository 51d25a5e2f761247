// Loads the installed OpenCode plugin as the client does and asks it about two calls. Runs under node and bun.
// The last line of its output is the answer.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { LAZARET_PROBE_PLUGIN: file, LAZARET_PROBE_SESSION: sessionID, LAZARET_PROBE_BLOCK, LAZARET_PROBE_PASS } = process.env;
const found = { error: null, blocked: null, stopped: null, changed: false };

// Node takes a .js file for CommonJS unless a package.json says otherwise; the client never does.
const address = typeof Bun === "undefined"
  ? `data:text/javascript;base64,${readFileSync(file).toString("base64")}`
  : pathToFileURL(file).href;

const told = (error) => String((error && error.message) || error || "Error");

async function hooksOf(module) {
  const directory = process.cwd();
  const client = { session: { get: async () => ({ data: { id: sessionID, agent: "build" } }) } };
  const context = { client, project: { id: "global" }, directory, worktree: directory, serverUrl: new URL("http://127.0.0.1:1/") };
  for (const [name, value] of Object.entries(module)) {
    const start = value && typeof value === "object" ? name === "default" && value.server : value;
    if (typeof start !== "function") throw new Error(`the export ${name} is none that the client loads`);
    const hooks = await start(context);
    if (hooks && hooks["tool.execute.before"]) return hooks;
  }
  throw new Error("no tool.execute.before");
}

async function ask(hooks, callID, command) {
  const output = { args: { command } };
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID, callID }, output);
  } catch (error) {
    return { thrown: told(error), changed: false };
  }
  return { thrown: null, changed: JSON.stringify(output) !== JSON.stringify({ args: { command } }) };
}

try {
  const hooks = await hooksOf(await import(address));
  found.blocked = (await ask(hooks, "lazaret-doctor-1", LAZARET_PROBE_BLOCK)).thrown;
  const passed = await ask(hooks, "lazaret-doctor-2", LAZARET_PROBE_PASS);
  found.stopped = passed.thrown;
  found.changed = passed.changed;
} catch (error) {
  found.error = told(error);
}
process.stdout.write(`\n${JSON.stringify(found)}\n`, () => process.exit(0));
