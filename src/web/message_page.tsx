import { Icon, type IconName } from "./icon.tsx";
import { renderPage } from "./layout.tsx";

/** A page that only says something. */
export interface Message {
  icon: IconName;
  heading: string;
  /** Sentences; each becomes a paragraph. */
  text: string[];
  /** Whether to look again by itself. */
  live?: boolean;
}

/** How soon a page that looks again does so, in seconds. */
const LOOK_AGAIN_SECONDS = 5;

/** Says what happened in place of the page that was asked for. Nothing of the program's inside belongs here. */
export function renderMessage({ icon, heading, text, live = false }: Message): ReturnType<typeof renderPage> {
  return renderPage({
    title: heading,
    live,
    refreshSeconds: LOOK_AGAIN_SECONDS,
    children: (
      <section class="card message">
        <Icon name={icon} />
        <div>
          <h1>{heading}</h1>
          {text.map((paragraph) => (
            <p>
              <bdi>{paragraph}</bdi>
            </p>
          ))}
        </div>
      </section>
    ),
  });
}
