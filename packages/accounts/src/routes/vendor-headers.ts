import type { HeaderList } from '@plinth/kernel';

/** The header of that name under every prefix, each once, in lower case. */
export const vendorHeaderNames = (prefixes: readonly string[], name: string): readonly string[] => [
  ...new Set(prefixes.map((prefix) => `${prefix}-${name}`.toLowerCase())),
];

export const vendorHeaders = (
  prefixes: readonly string[],
  name: string,
  value: string,
): HeaderList => vendorHeaderNames(prefixes, name).map((each) => [each, value]);
