/** Returns whether `If-None-Match` matches `etag`, by weak comparison. Source: RFC 9110, section 13.1.2. */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const bare = (tag: string): string => tag.trim().replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag));
}
