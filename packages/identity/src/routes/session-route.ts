import { jsonResponse, OpenApi, operatorRoute, type Route } from '@plinth/kernel';
import { Type } from 'typebox';
import type { ApiToken } from '../model/api-token.js';

const { nullable } = OpenApi;

const Session = Type.Object({
  kind: Type.String({
    enum: ['admin', 'open'],
    description: 'open: the server runs without authentication',
  }),
  token_id: nullable(Type.Integer()),
  name: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  expiry: nullable(Type.String({ format: 'date-time' })),
});

/** Describes the token of the request; web pages call this first. */
export const sessionRoute = (listTokens: () => readonly ApiToken[]): Route =>
  operatorRoute('GET', '/session', {
    about: { summary: 'Get the token of this request, with its expiry' },
    output: { 200: OpenApi.response('the token without its secret', OpenApi.json(Session)) },
    handle({ principal }) {
      const token =
        principal.kind === 'admin'
          ? listTokens().find(({ id }) => id === principal.tokenId)
          : undefined;
      return jsonResponse(200, {
        kind: token === undefined ? 'open' : 'admin',
        token_id: token?.id ?? null,
        name: token?.name ?? null,
        scopes: ['admin'],
        expiry: token?.expiryMs === undefined ? null : new Date(token.expiryMs).toISOString(),
      });
    },
  });
