// Source: webhooks, section 7.2; row 20 of its checklist.
import { it } from 'node:test';
import { killWebhookServer } from './webhook-rounds.js';

it('row 20: no acknowledged event is lost in a hundred kills', async (context) => {
  context.diagnostic(await killWebhookServer(100, 20));
});
