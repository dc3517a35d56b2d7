import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";

/** What an icon says. Each has a shape of its own: nobody has to tell colours apart. */
export type IconName = "up" | "degraded" | "down" | "unknown" | "paused" | "said";

const SHAPES: Record<IconName, { body: string; glyph: string }> = {
  up: { body: "M10 1a9 9 0 1 1 0 18 9 9 0 0 1 0-18Z", glyph: "m6 10.3 2.7 2.7 5.3-5.7" },
  degraded: { body: "M10 2.4 18.6 17.6H1.4Z", glyph: "M10 8v4M10 14.9v.01" },
  down: { body: "M6.4 1.2h7.2l5.2 5.2v7.2l-5.2 5.2H6.4l-5.2-5.2V6.4Z", glyph: "m7 7 6 6M13 7l-6 6" },
  unknown: {
    body: "M10 1a9 9 0 1 1 0 18 9 9 0 0 1 0-18Z",
    glyph: "M7.5 7.7a2.5 2.5 0 1 1 3.7 2.2c-.8.4-1.2.9-1.2 1.8M10 14.6v.01",
  },
  paused: { body: "M10 1a9 9 0 1 1 0 18 9 9 0 0 1 0-18Z", glyph: "M8 7v6M12 7v6" },
  said: {
    body: "M3.4 2.6h13.2a2 2 0 0 1 2 2v7.6a2 2 0 0 1-2 2H9.4l-4.6 4v-4H3.4a2 2 0 0 1-2-2V4.6a2 2 0 0 1 2-2Z",
    glyph: "M5.5 6.8h9M5.5 10h5.5",
  },
};

/** An icon in the colour of its tone. Hidden from screen readers: the word beside it says the same. The page has its shape in IconShapes. */
export function Icon({ name }: { name: IconName }): ReturnType<typeof raw> {
  return ICONS[name];
}

/** The shapes of all icons, once a page, so that a thousand of them weigh little. */
export function IconShapes(): JSX.Element {
  return (
    <svg class="icon-shapes" width="0" height="0" aria-hidden="true">
      {Object.entries(SHAPES).map(([name, { body, glyph }]) => (
        <symbol id={`icon-${name}`} viewBox="0 0 20 20">
          <path class="icon-body" d={body} />
          <path class="icon-glyph" d={glyph} />
        </symbol>
      ))}
    </svg>
  );
}

const ICONS = Object.fromEntries(
  Object.keys(SHAPES).map((name) => [
    name,
    raw(`<svg class="icon tone-${name}" aria-hidden="true"><use href="#icon-${name}"/></svg>`),
  ]),
) as Record<IconName, ReturnType<typeof raw>>;
