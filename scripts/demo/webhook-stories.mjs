import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Preset API key of the temporary server. */
export const DEMO_KEY = 'sk_test_demoDEMOdemoDEMOdemoDEMO00';
export const DEMO_FLAGS = [
  '--webhooks-allow-private-targets=127.0.0.0/8',
  `--accounts-bootstrap-keys=${DEMO_KEY}`,
];

const SECRET = 'webhook secret of the demo';
const TIMEOUT_MS = 20_000;

/** Delivers an event of the accounts service to a local receiver. The first attempt fails, and the event is redelivered. */
export async function showWebhooks(narrator, client, anonymous) {
  narrator.title('A webhook: from an account to a receiver');
  const receiver = await openReceiver();
  try {
    const json = { 'content-type': 'application/json' };
    const operate = async (method, path, body) => {
      const answer = await client.call(method, path, {
        body: body && JSON.stringify(body),
        headers: { ...json },
      });
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.text === '' ? undefined : JSON.parse(answer.text);
    };
    const app = await narrator.step(
      'register an app for account events',
      () =>
        operate('POST', '/ops/v1/apps', {
          name: 'demo',
          webhook: { url: receiver.url, secret: SECRET, events: ['account'] },
        }),
      ({ client_id }) => client_id,
    );
    const path = `/ops/v1/apps/${app.id}/deliveries`;
    const records = async (query, count) => {
      const endMs = Date.now() + TIMEOUT_MS;
      for (;;) {
        const found = await operate('GET', `${path}?event=account&action=created${query}`);
        if (found.length >= count || Date.now() > endMs) return found;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const account = await narrator.step(
      'create an account; the receiver returns 500',
      async () => {
        const answer = await anonymous.withToken(DEMO_KEY).call('POST', '/v2/core/accounts', {
          body: JSON.stringify({
            contact_email: 'ada@example.com',
            include: ['defaults'],
          }),
          headers: { ...json, 'idempotency-key': randomUUID() },
        });
        if (answer.status !== 200) throw new Error(`account: ${answer.status} ${answer.text}`);
        return JSON.parse(answer.text);
      },
      ({ id }) => id,
    );
    await narrator.check(
      "requirements collector (accounts.vendor_word: 'stripe' for that client)",
      async () => account.defaults.responsibilities.requirements_collector,
      'vendor',
      (word) => word,
    );
    const [failed] = await records('&status=failure', 1);
    await narrator.check(
      'the delivery record shows the failure',
      async () => [failed?.status, failed?.status_code],
      ['Invalid HTTP Response: 500', 500],
      (found) => found.join(', '),
    );
    await narrator.step('redeliver the event', () =>
      operate('POST', `${path}/${failed.id}/attempts`),
    );
    await receiver.until(2);
    const [first, second] = receiver.deliveries;
    await narrator.check(
      'same event, same bytes, valid signature',
      async () => ({
        isSameEvent: first.headers['x-vendor-delivery'] === second.headers['x-vendor-delivery'],
        isSameBody: first.body === second.body,
        account: JSON.parse(second.body).account.id,
        signature: second.headers['x-hub-signature-256'],
      }),
      {
        isSameEvent: true,
        isSameBody: true,
        account: account.id,
        signature: `sha256=${createHmac('sha256', SECRET).update(first.body).digest('hex')}`,
      },
      ({ signature }) => `${signature.slice(0, 20)}...`,
    );
    await narrator.check(
      'both deliveries are recorded',
      async () => (await records('', 2)).map(({ status, redelivery }) => `${status} ${redelivery}`),
      ['OK true', 'Invalid HTTP Response: 500 false'],
      (found) => `${found.length} records`,
    );
  } finally {
    receiver.close();
  }
}

/** Returns 500 for the first account event and 200 for all other requests. */
async function openReceiver() {
  const deliveries = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const isWanted = request.headers['x-vendor-event'] === 'account' && body.includes('"created"');
    if (isWanted) deliveries.push({ headers: request.headers, body });
    response.writeHead(isWanted && deliveries.length === 1 ? 500 : 200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    deliveries,
    async until(count) {
      const endMs = Date.now() + TIMEOUT_MS;
      while (deliveries.length < count) {
        if (Date.now() > endMs) throw new Error(`only ${deliveries.length} deliveries arrived`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
