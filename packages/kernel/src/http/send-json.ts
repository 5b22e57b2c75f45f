import type { FastifyReply } from 'fastify';

/**
 * Answers with an already serialised or a plain value as `application/json`, without a charset parameter.
 * Skips Fastify's serializer: error bodies have no response schema.
 */
export function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply.code(status).header('content-type', 'application/json').send(JSON.stringify(body));
}
