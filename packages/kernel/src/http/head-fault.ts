import type { IncomingMessage } from 'node:http';
import { type HttpResponse, jsonResponse } from './http-response.js';

export interface HeadFault {
  readonly status: number;
  readonly message: string;
}

const NO_HOST: HeadFault = { status: 400, message: 'the request has no Host header' };
const SEVERAL_HOSTS: HeadFault = {
  status: 400,
  message: 'the request has more than one Host header',
};
const SEVERAL_CREDENTIALS: HeadFault = {
  status: 400,
  message: 'the request has more than one Authorization header',
};
const EXPECTATION: HeadFault = {
  status: 417,
  message: 'unsupported expectation; use 100-continue',
};

const TRANSFER_CODING: HeadFault = {
  status: 501,
  message: 'unsupported transfer coding; use chunked',
};

/**
 * Returns the fault of a request head that the parser accepted, for any path. For single-value headers, Node keeps the
 * first value and drops the others, while a proxy may have used the last. Source: RFC 9112, sections 3.2 and 6.1; RFC
 * 9110, sections 5.3 and 10.1.1.
 */
export function faultOfHead({
  rawHeaders,
  headers,
  httpVersionMajor,
  httpVersionMinor,
}: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'httpVersionMajor' | 'httpVersionMinor'>):
  | HeadFault
  | undefined {
  let hostCount = 0;
  let credentialCount = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) hostCount += 1;
    else if (name?.length === 13 && name.toLowerCase() === 'authorization') credentialCount += 1;
  }
  if (hostCount > 1) return SEVERAL_HOSTS;
  if (hostCount === 0 && httpVersionMajor === 1 && httpVersionMinor === 1) return NO_HOST;
  if (credentialCount > 1) return SEVERAL_CREDENTIALS;
  const { expect, 'transfer-encoding': coding } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return EXPECTATION;
  // The parser accepts further codings before `chunked`, and leaves the body encoded in them.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return TRANSFER_CODING;
  return undefined;
}

/** Returns a response in the format of parser errors, because the service is not known yet. */
export const headFaultResponse = ({ status, message }: HeadFault): HttpResponse =>
  jsonResponse(status, { error: message, data: {} });
