import type { JSX } from "hono/jsx/jsx-runtime";
import type { ServiceStatus } from "./dashboard.ts";
import { isFiltering, letsThrough, type ServiceFilter } from "./service_filter.ts";
import { STATUSES } from "./statuses.ts";

/** Looks for services: a form that the server answers, or `filter.js` at each key. Not there where there is nothing to choose from. */
export function FilterForm(
  { services, filter, live }: { services: ServiceStatus[]; filter: ServiceFilter; live: boolean },
): JSX.Element | null {
  if (services.length < 2) return null;
  const groups = distinct(services.flatMap(({ group_name }) => group_name === null ? [] : [group_name]));
  const tags = distinct(services.flatMap((service) => service.tags));
  const shown = services.filter((service) => letsThrough(filter, service)).length;
  return (
    <form class="filter" role="search" method="get" action="/" data-key="filter">
      {!live && <input type="hidden" name="refresh" value="off" />}
      <input type="search" name="q" value={filter.search} placeholder="Find a service" aria-label="Find a service" />
      <Choice
        name="state"
        label="State"
        any="Any state"
        chosen={filter.status}
        options={Object.entries(STATUSES).map(([status, { word }]) => [status, word])}
      />
      {groups.length > 0 && (
        <Choice
          name="group"
          label="Group"
          any="All groups"
          chosen={filter.group}
          options={groups.map((each) => [each, each])}
        />
      )}
      {tags.length > 0 && (
        <Choice name="tag" label="Tag" any="All tags" chosen={filter.tag} options={tags.map((each) => [each, each])} />
      )}
      <button type="submit" class="quiet-button" data-without-script>Find</button>
      <p class="quiet" role="status" id="shown">
        {isFiltering(filter) && (
          <>
            {shown} of {services.length} <a href={live ? "/" : "/?refresh=off"} data-clear>Show all</a>
          </>
        )}
      </p>
    </form>
  );
}

function Choice(
  { name, label, any, chosen, options }: {
    name: string;
    label: string;
    any: string;
    chosen: string | null;
    options: [string, string][];
  },
): JSX.Element {
  return (
    <select name={name} aria-label={label}>
      <option value="">{any}</option>
      {options.map(([value, word]) => <option value={value} selected={value === chosen}>{word}</option>)}
    </select>
  );
}

function distinct(values: string[]): string[] {
  return [...new Set(values)].sort((one, other) => one.localeCompare(other));
}
