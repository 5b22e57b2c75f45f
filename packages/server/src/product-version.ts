import { createRequire } from 'node:module';

/** What this program is. */
export interface Product {
  readonly version: string;
  /** `undefined`: it runs from a checkout and not from a release. */
  readonly commit: string | undefined;
  /** Day of the commit, as `2026-01-31`. */
  readonly built: string | undefined;
}

/** Of the package that this is; `npm run release` writes commit and day into it. */
export function readProduct(): Product {
  const { version, commit, built } = createRequire(import.meta.url)('../package.json') as Product;
  return { version, commit, built };
}

/** As clients and `--version` are told. */
export const readVersion = (): string => readProduct().version;
