// Looks at a page in a real browser, wide and narrow, light and dark: what runs, what is asked of any host, whether the layout holds, and what
// axe-core finds. Arguments: the directory of the npm packages, the browser, the page, a directory for pictures (or nothing). Prints JSON.
import fs from "node:fs"
import path from "node:path"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

const [packages, browser, file, pictures] = process.argv.slice(2)
const require = createRequire(path.join(packages, "package.json"))
const puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")))).default
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")

const FORMS = [
  { name: "wide", width: 1280, height: 900, scheme: "light" },
  { name: "narrow", width: 375, height: 800, scheme: "light" },
  { name: "wide-dark", width: 1280, height: 900, scheme: "dark" },
  { name: "narrow-dark", width: 375, height: 800, scheme: "dark" },
]
const address = pathToFileURL(path.resolve(file)).href
const found = { ran: [], asked: [], console: [], layout: [], axe: [], elements: [] }
const started = await puppeteer.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-gpu"] })
try {
  for (const form of FORMS) {
    const page = await started.newPage()
    page.on("dialog", (dialog) => { found.ran.push(`${form.name}: ${dialog.type()}`); dialog.dismiss() })
    page.on("request", (request) => { if (request.url() !== address) found.asked.push(request.url().slice(0, 100)) })
    page.on("framenavigated", (frame) => { if (frame.url() !== address) found.asked.push(`frame ${frame.url().slice(0, 100)}`) })
    page.on("console", (message) => found.console.push(message.text().slice(0, 200)))
    await page.setViewport({ width: form.width, height: form.height })
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: form.scheme }])
    await page.goto(address, { waitUntil: "load" })
    if (pictures) await page.screenshot({ path: path.join(pictures, `${form.name}-top.png`) })
    // Everything that can be opened is, and everything that can be focused was.
    await page.evaluate(() => {
      document.querySelectorAll("details").forEach((details) => { details.open = true })
      document.querySelectorAll("a, input, summary, [tabindex]").forEach((element) => element.focus())
    })
    // A picture has its bounds.
    const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), 9000)
    const clip = { x: 0, y: 0, width: form.width, height }
    if (pictures) await page.screenshot({ path: path.join(pictures, `${form.name}.png`), clip, captureBeyondViewport: true })
    found.layout.push({ name: form.name, ...(await page.evaluate(layout)) })
    if (form.width > 1000) found.elements = await page.evaluate(() => [...new Set([...document.querySelectorAll("*")].map((element) => element.localName))])
    if (form.name.startsWith("wide")) {
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }))
      for (const { id, impact, nodes } of violations) found.axe.push({ form: form.name, id, impact, nodes: nodes.length, first: nodes[0].html.slice(0, 200) })
    }
    if (await page.evaluate(() => window.hit === true)) found.ran.push(`${form.name}: hit`)
    await page.close()
  }
} finally {
  await started.close()
}
process.stdout.write(JSON.stringify(found))

// Whether the page is wider than the window, and what stands out of the box that it is in.
function layout() {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
  const out = []
  for (const box of document.querySelectorAll("article.stop, tr, pre, dl.cards div")) {
    const own = box.getBoundingClientRect()
    if (own.height > 20000) out.push(`${box.localName} of ${own.height} pixels`)
    for (const text of box.querySelectorAll("code, pre, td.t")) {
      const inner = text.getBoundingClientRect()
      if (inner.height && (inner.bottom > own.bottom + 1 || inner.top < own.top - 1)) out.push(`${text.localName} in ${box.localName}`)
    }
  }
  return { wide, out: out.slice(0, 20) }
}
