import type { IncomingMessage } from 'node:http';

/** Node keeps the first and drops the others; a proxy may have looked at the last. Source: RFC 9112, section 3.2. */
export function hasSeveralHosts({
  rawHeaders,
  httpVersionMajor,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMajor'>): boolean {
  if (httpVersionMajor !== 1) return false;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count += 1;
  }
  return count > 1;
}
