// Makes a picture of what a terminal shows. Arguments: the directory of the npm packages, the browser, a file with the terminal's text and its
// escapes for colours (`tmux capture-pane -e -p`), and the picture.
import fs from "node:fs"
import path from "node:path"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

const [packages, browser, file, picture] = process.argv.slice(2)
const require = createRequire(path.join(packages, "package.json"))
const puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")))).default
const { AnsiUp } = await import(pathToFileURL(require.resolve("ansi_up")))

const screen = new AnsiUp().ansi_to_html(fs.readFileSync(file, "utf8"))
const page = `<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; background: #16191d } pre { display: inline-block; margin: 0; padding: 14px 18px; color: #d9dde2; font: 14px/1.25 monospace }
</style><pre>${screen}</pre>`
const started = await puppeteer.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-gpu"] })
try {
  const view = await started.newPage()
  await view.setViewport({ width: 1400, height: 900, deviceScaleFactor: 2 })
  await view.setContent(page)
  await (await view.$("pre")).screenshot({ path: picture })
} finally {
  await started.close()
}
