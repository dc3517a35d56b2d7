/** A source of chance that gives the same numbers for the same seed, so that a history that failed can be run again. */
export interface Chance {
  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number;
  /** One of the items. */
  pick<Item>(items: readonly Item[]): Item;
  /** True in `percent` of a hundred cases. */
  percent(percent: number): boolean;
  /** The items in another order. */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** Chance from a seed (mulberry32). */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    percent: (percent) => below(100) < percent,
    pick: <Item>(items: readonly Item[]): Item => {
      if (items.length === 0) throw new Error("There is nothing to pick from.");
      return items[below(items.length)] as Item;
    },
    shuffle: <Item>(items: readonly Item[]): Item[] =>
      items.map((item) => ({ item, rank: next() })).sort((one, other) => one.rank - other.rank).map(({ item }) => item),
  };
}
