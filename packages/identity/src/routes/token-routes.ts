import type { Principal } from '@plinth/kernel';
import { accessOf, createValidatorCompiler, routesFor, sendJson } from '@plinth/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AccessGate } from '../domain/access-gate.js';
import { OPERATOR_TOKEN_PATH, TOKEN_PATH } from '../domain/access-gate.js';
import type { AdminTokens } from '../domain/admin-tokens.js';
import { ConflictingValues } from '../errors.js';
import { installJsonBody, requireJson } from './json-body.js';
import { CreateNamedToken, DeleteToken, toTokenObject } from './schemas.js';
import { isIdentityError, toErrorAnswer } from './to-wire.js';

/** Source: tsdb-http, "Tokens", endpoints. */
export function registerTokenRoutes(
  app: FastifyInstance,
  { tokens, gate }: { readonly tokens: AdminTokens; readonly gate: AccessGate },
): void {
  app.setValidatorCompiler(createValidatorCompiler());
  installJsonBody(app);
  routesFor(app, 'admin');
  // The composition root asks the gate in front of all; this one also guards a service that runs alone.
  app.addHook('onRequest', async (request) => {
    gate.check(request.raw, accessOf(request));
  });
  app.setErrorHandler((error, request, reply) => {
    if (!isIdentityError(error)) throw error;
    const answer = toErrorAnswer(error, request.url);
    return sendJson(reply.headers(answer.headers), answer.status, answer.body);
  });
  const callerOf = (request: FastifyRequest) =>
    tokenIdOf(gate.check(request.raw, accessOf(request)));

  app.post(OPERATOR_TOKEN_PATH, { config: { access: 'first_token' } }, async (request, reply) => {
    const issued = await tokens.createOperator(callerOf(request));
    return sendJson(reply, 201, toTokenObject(issued));
  });

  app.post(`${OPERATOR_TOKEN_PATH}/regenerate`, async (request, reply) => {
    const issued = await tokens.regenerateOperator(callerOf(request));
    return sendJson(reply, 201, toTokenObject(issued));
  });

  app.post<{ Body: CreateNamedToken }>(
    `${TOKEN_PATH}/named_admin`,
    { schema: { body: CreateNamedToken }, preValidation: requireJson },
    async (request, reply) => {
      const issued = await tokens.createNamed({
        name: request.body.token_name,
        expirySec: request.body.expiry_secs ?? undefined,
        byTokenId: callerOf(request),
      });
      return sendJson(reply, 201, toTokenObject(issued));
    },
  );

  app.delete<{ Querystring: DeleteToken }>(
    TOKEN_PATH,
    { schema: { querystring: DeleteToken }, preValidation: takeNameFromBody },
    async (request, reply) => {
      await tokens.delete(request.query.token_name);
      return reply.code(200).send();
    },
  );
}

/** Management calls take their parameters from the query string or a JSON body. */
async function takeNameFromBody(request: FastifyRequest): Promise<void> {
  const { body, query } = request as { body: unknown; query: Record<string, unknown> };
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'token_name')) return;
  const name: unknown = Reflect.get(body, 'token_name');
  if (Object.hasOwn(query, 'token_name') && query['token_name'] !== name) {
    throw new ConflictingValues('token_name');
  }
  query['token_name'] = name;
}

function tokenIdOf(principal: Principal): number | undefined {
  return principal.kind === 'admin' ? principal.tokenId : undefined;
}
