// Source: docs/CONSOLE.md.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ServerProcess, WebhookReceiver } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

const MARKUP = '<b id="markup">thanks</b>';
let server: ServerProcess;
let browser: TestBrowser;
let receiver: WebhookReceiver;
before(async () => {
  if (SKIP) return;
  receiver = await WebhookReceiver.start((_, response) => {
    // The first delivery fails.
    response.writeHead(receiver.deliveries.length === 1 ? 500 : 200, {
      'content-type': 'text/html',
    });
    response.end(MARKUP);
  });
  server = await ServerProcess.start({
    flags: [
      ...['--services', 'webhooks', '--without-auth'],
      ...['--webhooks-allow-private-targets', '127.0.0.0/8'],
    ],
  });
  browser = await TestBrowser.start();
});
after(async () => {
  if (SKIP) return;
  await browser.close();
  await server.close();
  await receiver[Symbol.asyncDispose]();
});

it('creates an app, and shows and redelivers its deliveries', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/webhooks`);
  await page.getByText('No apps yet.').waitFor();
  await page.getByRole('button', { name: 'Create app' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('ci');
  await dialog.getByLabel('URL').fill('ci.example.com');
  await dialog.getByText('Invalid URL').waitFor();
  await dialog.getByLabel('URL').fill(`${receiver.url}/hook`);
  await dialog.getByLabel('Events').fill('push, issues');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.getByText('BEGIN PRIVATE KEY').waitFor();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('row', { name: /ci ✓ active .*push, issues/ }).waitFor();
  assert.ok(!(await page.content()).includes('PRIVATE KEY'), 'the key is gone from the page');

  await page.getByRole('link', { name: 'ci', exact: true }).click();
  // The first delivery is the ping of a new webhook.
  await page.getByRole('row', { name: /ping ✕ 500/ }).waitFor();
  await page.getByRole('button', { name: /^Redeliver \d+$/ }).click();
  await page.getByRole('row', { name: /ping redelivery ✓ 200/ }).waitFor();
  assert.equal(receiver.deliveries.length, 2);

  await page.getByLabel('Result').selectOption('succeeded');
  await page.getByRole('row', { name: /ping ✕ 500/ }).waitFor({ state: 'detached' });
  await page
    .getByRole('row', { name: /ping redelivery ✓ 200/ })
    .getByRole('link')
    .click();
  await page.getByRole('heading', { name: 'Response' }).waitFor();
  await page.getByText(MARKUP).waitFor();
  assert.equal(await page.locator('#markup').count(), 0, 'what a receiver says is text');
  await page.getByText('"zen"').waitFor();
  await page.getByRole('link', { name: /^All attempts of/ }).click();
  await page.getByRole('row', { name: /ping ✕ 500/ }).waitFor();

  await page.getByRole('button', { name: 'Suspend' }).click();
  await page.getByText('– suspended').waitFor();
  const { text } = await server.http.send('/ops/v1/apps');
  assert.notEqual((JSON.parse(text) as { suspended_at: unknown }[])[0]?.suspended_at, null);
});

it('deletes an app by name', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/webhooks`);
  await page.getByRole('button', { name: 'Delete ci' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('ci');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete app' }).click();
  await page.getByText('No apps yet.').waitFor();
});
