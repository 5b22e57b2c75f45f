import { readFileSync } from 'node:fs';

export interface HostileRequest {
  readonly path: string;
  readonly method?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Lines of a corpus file. */
export const corpus = (name: string): readonly string[] =>
  readFileSync(new URL(`../../fuzz/corpus/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

/** Replaces lone surrogates, which cannot be encoded. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();
