/** Whether a `Content-Type` says JSON: `application/json`, or what ends in `+json`. */
export const isJsonType = (type: string | undefined): boolean =>
  type !== undefined && /^application\/(?:[^\s;/+]+\+)*json\s*(?:;|$)/i.test(type);
