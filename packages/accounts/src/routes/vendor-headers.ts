/** Returns the header names for every prefix, unique and in lower case. */
export const vendorHeaderNames = (prefixes: readonly string[], name: string): readonly string[] => [
  ...new Set(prefixes.map((prefix) => `${prefix}-${name}`.toLowerCase())),
];
