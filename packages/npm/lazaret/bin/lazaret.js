#!/usr/bin/env node
// Starts the binary that the package of this system brings. What `install` registers is a copy of it in a place that stays: a cache of
// npx is emptied, and a client that finds no binary blocks every call.
"use strict"

const { spawnSync } = require("node:child_process")
const fs = require("node:fs")
const os = require("node:os")
const path = require("node:path")

// 2 and not 1: should a client ever run this as its hook, only that blocks.
function fail(why) {
  process.stderr.write(`lazaret: ${why}\n`)
  process.exit(2)
}

function binary() {
  const name = `@lazaret/${process.platform}-${process.arch}`
  try {
    return require.resolve(`${name}/bin/lazaret`)
  } catch {
    return fail(`${name} is not installed: this system is not supported, or npm left optional packages out (--omit=optional)`)
  }
}

function run(program, args) {
  const { error, signal, status } = spawnSync(program, args, { stdio: "inherit" })
  if (error) fail(`${program}: ${error.message}`)
  if (signal) process.kill(process.pid, signal)
  process.exit(status ?? 2)
}

// Renamed into place, so that a running gate never meets half a binary.
function copy(from, to) {
  const next = `${to}.new.${process.pid}`
  try {
    if (fs.existsSync(to) && fs.readFileSync(to).equals(fs.readFileSync(from))) return
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.copyFileSync(from, next)
    fs.chmodSync(next, 0o755)
    fs.renameSync(next, to)
  } catch (error) {
    fs.rmSync(next, { force: true })
    fail(`${to}: ${error.message}`)
  }
  process.stdout.write(`installed  ${to}\n`)
}

const args = process.argv.slice(2)
const has = (...names) => args.some((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)))
const found = binary()
if (args[0] !== "install" || has("--bin", "--help", "-h")) run(found, args)
const system = has("--scope=system") || args[args.indexOf("--scope") + 1] === "system"
const stays = path.join(system ? "/usr/local" : path.join(os.homedir(), ".local"), "bin", "lazaret")
if (has("--dry-run")) {
  process.stdout.write(`would be installed  ${stays}, and registered in the place of the one shown here\n`)
  run(found, args)
}
copy(`${found}-view`, `${stays}-view`)
copy(found, stays)
run(stays, args)
