import { isObject } from '@plinth/kernel';
import type { TokenPayload } from '../../model/account/token.js';
import { timestamp } from '../../model/timestamps.js';

type Tree = { readonly identity?: object; readonly [name: string]: unknown };

/**
 * Converts token content to the form of a direct request. `{attested: true}` and
 * `{shown_and_accepted: true}` are replaced by the date and IP address of the request that created
 * the token. `false` is omitted.
 */
export function tokenContent(
  payload: TokenPayload,
  createdMs: number,
): { readonly content: Tree; readonly acceptsTerms: boolean } {
  let acceptsTerms = false;
  const evidence = {
    date: timestamp(createdMs),
    ip: payload.ip,
    ...(payload.user_agent !== undefined && { user_agent: payload.user_agent }),
  };
  const replace = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      const said = attestedContentOf(inner);
      if (said === undefined) return [[name, replace(inner)]];
      if (!said.isTrue) return [];
      acceptsTerms ||= said.isAcceptance;
      return [[name, evidence]];
    });
    return Object.fromEntries(entries);
  };
  const content = replace(payload.given) as Tree; // the shape of a token's content is an object
  return { content, acceptsTerms };
}

function attestedContentOf(
  value: unknown,
): { readonly isTrue: boolean; readonly isAcceptance: boolean } | undefined {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, 'attested')) {
    return { isTrue: value['attested'] === true, isAcceptance: false };
  }
  if (!Object.hasOwn(value, 'shown_and_accepted')) return undefined;
  return { isTrue: value['shown_and_accepted'] === true, isAcceptance: true };
}
