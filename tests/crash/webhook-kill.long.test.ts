// Source: webhooks, section 7.2.
import { it } from 'node:test';
import { killWebhookServer } from './webhook-rounds.js';

it('no acknowledged event is lost in a hundred kills', async (context) => {
  context.diagnostic(await killWebhookServer(100, 20));
});
