import type { FastifyReply } from 'fastify';

/** Answers with `body` as exactly `application/json`: Fastify adds a charset parameter to text, never to bytes. */
export function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  const bytes = Buffer.from(JSON.stringify(body));
  return reply.code(status).header('content-type', 'application/json').send(bytes);
}
