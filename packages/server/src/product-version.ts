import { createRequire } from 'node:module';

/** Version, commit and build of this program. */
export interface Product {
  readonly version: string;
  /** `undefined` if the program runs from a checkout. */
  readonly commit: string | undefined;
  /** Date of the commit, such as `2026-01-31`. */
  readonly built: string | undefined;
}

/** Reads this package, to which `npm run release` writes commit and date. */
export function readProduct(): Product {
  const { version, commit, built } = createRequire(import.meta.url)('../package.json') as Product;
  return { version, commit, built };
}

/** Returns the version for clients and `--version`. */
export const readVersion = (): string => readProduct().version;
