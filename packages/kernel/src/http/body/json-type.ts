/** Whether a `Content-Type` is JSON: `application/json`, or a type that ends in `+json`. */
export const isJsonType = (type: string | undefined): boolean =>
  type !== undefined && /^application\/(?:[^\s;/+]+\+)*json\s*(?:;|$)/i.test(type);
