/** The header of that name under every prefix, each once, in lower case. */
export const vendorHeaderNames = (prefixes: readonly string[], name: string): readonly string[] => [
  ...new Set(prefixes.map((prefix) => `${prefix}-${name}`.toLowerCase())),
];
