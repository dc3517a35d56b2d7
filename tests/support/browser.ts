import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Where Chromium may be; CHROMIUM in the environment comes first. */
const PLACES = [
  Deno.env.get("CHROMIUM"),
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** A page of a browser that knows nothing yet: no cookies, no cache. */
export interface BrowserPage extends AsyncDisposable {
  page: Page;
  /** What the page complained of: errors of scripts, refusals by the content security policy. */
  complaints: string[];
}

/** The path of Chromium on this machine; null if there is none. */
export function findChromium(): string | null {
  return PLACES.find((place) => place !== undefined && place !== "" && exists(place)) ?? null;
}

/** @throws If there is no Chromium, or it does not start. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error("There is no Chromium on this machine: install one, or name it in CHROMIUM.");
  }
  return await chromium.launch({
    executablePath,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"],
  });
}

let browser: Promise<Browser> | undefined;

/** A test in a browser. It is left out, and says so, only where there is no Chromium. */
export function browserTest(name: string, test: () => Promise<void>): void {
  const missing = findChromium() === null;
  Deno.test({ name: missing ? `${name} (left out: no Chromium on this machine)` : name, ignore: missing, fn: test });
}

Deno.test.afterAll(async () => {
  await (await browser)?.close();
});

/** Opens a page in the browser that the tests of a file share. */
export async function openPage(options: BrowserContextOptions = {}): Promise<BrowserPage> {
  browser ??= launchChromium();
  const context = await (await browser).newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser reports each answer of 400 and above as an error too.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** What axe-core finds wrong for people with disabilities, as `impact rule: element`; only what is serious or critical. */
export async function seriousBarriers(page: Page): Promise<string[]> {
  // Evaluated, and not added as a script, which the content security policy would rightly refuse.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  }>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => `${impact} ${id}: ${html}`));
}

/** How many pixels a page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
