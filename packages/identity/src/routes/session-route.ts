import { jsonAnswer, OpenApi, operatorRoute, type Route } from '@plinth/kernel';
import { Type } from 'typebox';
import type { ApiToken } from '../model/api-token.js';

const { nullable } = OpenApi;

const Session = Type.Object({
  kind: Type.String({ enum: ['admin', 'open'], description: 'open: the server asks for no token' }),
  token_id: nullable(Type.Integer()),
  name: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  expiry: nullable(Type.String({ format: 'date-time' })),
});

/** Who the token of the request is: what a page asks before it shows anything. */
export const sessionRoute = (listTokens: () => readonly ApiToken[]): Route =>
  operatorRoute('GET', '/session', {
    about: { summary: 'Whom the token of this request belongs to, and until when' },
    output: { 200: OpenApi.answer('the token, without its text', OpenApi.json(Session)) },
    handle({ principal }) {
      const token =
        principal.kind === 'admin'
          ? listTokens().find(({ id }) => id === principal.tokenId)
          : undefined;
      return jsonAnswer(200, {
        kind: token === undefined ? 'open' : 'admin',
        token_id: token?.id ?? null,
        name: token?.name ?? null,
        scopes: ['admin'],
        expiry: token?.expiryMs === undefined ? null : new Date(token.expiryMs).toISOString(),
      });
    },
  });
