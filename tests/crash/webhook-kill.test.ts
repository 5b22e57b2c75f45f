// Source: webhooks, section 7.2.
// Own process: it is killed under load.
import { it } from 'node:test';
import { killWebhookServer } from './webhook-rounds.js';

it('no acknowledged event is lost when the server is killed', async (context) => {
  context.diagnostic(await killWebhookServer(3, Date.now()));
});
