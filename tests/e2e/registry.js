// What a release is fetched from, on loopback: the packages of npm in DIR/npm as a registry, and every file of DIR as it is.
// Arguments: DIR PORT. Nothing is asked of it but by GET.
const { createHash } = require("node:crypto")
const fs = require("node:fs")
const http = require("node:http")
const path = require("node:path")
const { gunzipSync } = require("node:zlib")

const [directory, port] = process.argv.slice(2)
const address = `http://127.0.0.1:${port}`

// The manifest is a file of the tar: a header of 512 bytes, then its content, filled up to 512.
function manifest(tarball) {
  const tar = gunzipSync(tarball)
  for (let at = 0; at < tar.length; ) {
    const field = (from, to) => tar.toString("latin1", at + from, at + to).replace(/\0.*$/s, "")
    const size = parseInt(field(124, 136), 8) || 0
    if (field(0, 100) === "package/package.json") return JSON.parse(tar.toString("utf8", at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error("no package.json")
}

const packages = new Map()
for (const name of fs.readdirSync(path.join(directory, "npm"))) {
  const tarball = fs.readFileSync(path.join(directory, "npm", name))
  const said = manifest(tarball)
  const dist = { tarball: `${address}/npm/${name}`, integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}` }
  const versions = { [said.version]: { ...said, dist } }
  packages.set(said.name, JSON.stringify({ name: said.name, "dist-tags": { latest: said.version }, versions }))
}

http
  .createServer((request, response) => {
    const asked = decodeURIComponent(request.url.slice(1).split("?")[0])
    const file = path.join(directory, path.normalize(asked))
    if (packages.has(asked)) return response.setHeader("content-type", "application/json").end(packages.get(asked))
    if (fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return response.end(fs.readFileSync(file))
    response.statusCode = 404
    response.end("{}")
  })
  .listen(Number(port), "127.0.0.1")
