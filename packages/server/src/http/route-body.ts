import { type BodyBudget, decodeBody, type Route, ServerBusy } from '@plinth/kernel';
import type { IncomingRequest } from './incoming-request.js';

/** Reads a body according to its route's rule: bounded, decoded, and counted in the body budget. */
export function readRouteBody(
  request: IncomingRequest,
  { body: rule }: Route,
  bodies: BodyBudget,
): Uint8Array | Promise<Uint8Array> {
  if (rule === undefined) return request.body;
  const counted = (body: Uint8Array): Uint8Array => {
    request.bodyReservation ??= bodies.begin(request.principal);
    if (!request.bodyReservation.add(body.byteLength)) throw new ServerBusy();
    return body;
  };
  const encoding = rule.isLeftEncoded === true ? undefined : request.headers['content-encoding'];
  const decoded = (sent: Uint8Array) => {
    const body = decodeBody(sent, encoding, rule.maxBytes);
    return body instanceof Promise ? body.then(counted) : body;
  };
  const sent = request.readBody(rule, bodies);
  return sent instanceof Promise ? sent.then(decoded) : decoded(sent);
}
