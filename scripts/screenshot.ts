import { launchChromium } from "../tests/support/browser.ts";

/** How a picture is made, and the name of its file. */
interface Picture {
  name: string;
  width: number;
  colorScheme: "light" | "dark";
}

const PICTURES: Picture[] = [
  { name: "light", width: 1180, colorScheme: "light" },
  { name: "dark", width: 1180, colorScheme: "dark" },
  { name: "narrow", width: 360, colorScheme: "light" },
];

/**
 * Makes pictures of a running page: light, dark, and as wide as a small telephone.
 *
 * Arguments: the page's URL (default http://127.0.0.1:8080/), the directory for the pictures (default the current one), and the
 * viewer token in UPTUPLE_VIEWER_TOKEN if the page asks for one. Needs a Chromium, at its usual places or at CHROMIUM.
 */
async function main([url = "http://127.0.0.1:8080/", directory = "."]: string[]): Promise<void> {
  await Deno.mkdir(directory, { recursive: true });
  const token = Deno.env.get("UPTUPLE_VIEWER_TOKEN") ?? "";
  const browser = await launchChromium();
  try {
    for (const { name, width, colorScheme } of PICTURES) {
      const page = await browser.newPage({
        viewport: { width, height: 800 },
        deviceScaleFactor: 2,
        colorScheme,
        ...(token !== "" && { extraHTTPHeaders: { authorization: `Bearer ${token}` } }),
      });
      await page.goto(url);
      const path = `${directory}/${name}.png`;
      await page.screenshot({ path, fullPage: true });
      await page.close();
      console.log(path);
    }
  } finally {
    await browser.close();
  }
}

if (import.meta.main) await main(Deno.args);
