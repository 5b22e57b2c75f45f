// Source: docs/CONSOLE.md.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ServerInProcess, until, WebhookApp, WebhookReceiver } from '../harness/index.js';
import { clicksOn, SKIP, TestBrowser, violationsOn } from './browser.js';

const PICTURES = process.env['PLINTH_TEST_PICTURES'];
const MARKUP = '<b id="markup">thanks</b>';
let server: ServerInProcess;
let browser: TestBrowser;
let receiver: WebhookReceiver;
let isBroken = true;
before(async () => {
  if (SKIP) return;
  receiver = await WebhookReceiver.start((_, response) => {
    response.writeHead(isBroken ? 500 : 200, {
      'content-type': 'text/html',
    });
    response.end(MARKUP);
  });
  server = await ServerInProcess.start({
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

it('creates an app and shows its first delivery', { skip: SKIP }, async () => {
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

  await page.getByRole('row', { name: /^ci / }).getByText('✓ active').click();
  // The first delivery is the ping of a new webhook.
  await page.getByRole('row', { name: /ping ✕ 500 Internal Server Error Attempt 1/ }).waitFor();
});

it('redelivers a failed delivery in four clicks', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/`);
  await page.getByRole('link', { name: 'Webhooks' }).first().click();
  await page.getByRole('button', { name: 'Failed', exact: true }).click();
  // The row opens wherever it is clicked.
  await page
    .getByRole('row', { name: /ping ✕ 500/ })
    .getByText('Attempt 1')
    .click();
  const panel = page.getByRole('complementary', { name: 'ping' });
  await panel.getByText(MARKUP).waitFor();
  assert.equal(await page.locator('#markup').count(), 0, 'a response is shown as text');
  isBroken = false;
  await panel.getByRole('button', { name: 'Redeliver' }).click();
  assert.equal(await clicksOn(page), 4);
  await panel.getByText('Newer attempt: ✓ 200 OK').waitFor();
  assert.equal(receiver.deliveries.length, 2);

  await panel.getByRole('link', { name: 'View' }).click();
  await panel.getByText('✓ 200 OK').first().waitFor();
  await panel.getByRole('link', { name: 'Attempts 2' }).click();
  await panel.getByRole('row', { name: /Redelivered ✓ 200 OK/ }).waitFor();
  await panel.getByRole('row', { name: /Attempt 1 ✕ 500/ }).waitFor();
  await panel.getByRole('link', { name: 'Request' }).click();
  await panel.getByText('"zen"').waitFor();
  await panel.getByRole('button', { name: 'Close' }).click();
  await panel.waitFor({ state: 'detached' });
});

it('shows a response of 1 MB of markup as text, and which part is stored', {
  skip: SKIP,
}, async () => {
  const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const size = 2 ** 20;
  const body = markup.repeat(Math.ceil(size / markup.length)).slice(0, size);
  const hostile = await WebhookReceiver.start(({ headers }, response) => {
    const isPing = headers['x-vendor-event'] === 'ping';
    response.writeHead(500, isPing ? {} : { 'content-length': size, 'content-type': 'text/html' });
    response.end(body);
  });
  const app = await WebhookApp.register(server, { url: hostile.url, events: ['push'] });
  try {
    await app.publish('push');
    const [push] = await app.untilRecorded('?event=push', 1);
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console/webhooks/${app.id}/${push?.id}`);
    const panel = page.getByRole('complementary', { name: 'push' });
    await panel.getByText('Only the first 65,536 of 1,048,576 bytes').waitFor();
    const shown = panel.locator('pre').first();
    assert.equal((await shown.textContent())?.length, 65_536);
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.notEqual(await page.title(), '2');
    // Nothing is wider than the panel, and the buttons above it stay in view.
    // The headers are still in view.
    await panel.getByRole('row', { name: /content-type text\/html/i }).click({ trial: true });
    const overflow = await panel.evaluate((element) => element.scrollWidth - element.clientWidth);
    assert.equal(overflow, 0);
    await panel.getByRole('button', { name: 'Redeliver' }).click({ trial: true });
    assert.deepEqual(await violationsOn(page), []);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/delivery-markup-light.png` });
    // The response to a ping has no length, because it is sent in parts.
    const [ping] = await app.untilRecorded('?event=ping', 1);
    await page.goto(`${server.url}/console/webhooks/${app.id}/${ping?.id}`);
    await page.getByText('Only the first 65,536 bytes of the response are stored.').waitFor();
  } finally {
    await app.operate('DELETE', '');
    await hostile[Symbol.asyncDispose]();
  }
});

it('asks before the key r redelivers, and redelivers a selection by keyboard', {
  skip: SKIP,
}, async () => {
  const page = await (await browser.context()).newPage();
  const id = await appId();
  await page.goto(`${server.url}/console/webhooks/${id}`);
  await page.getByText('% of 2 deliveries in the last hour succeeded').waitFor();
  const before = receiver.deliveries.length;
  await page.getByRole('row', { name: /ping ✕ 500/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary', { name: 'ping' });
  await panel.waitFor();
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: 'Redeliver ping' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal(receiver.deliveries.length, before, 'nothing was sent');
  await page.keyboard.press('r');
  await dialog.waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Redelivery queued').waitFor();
  await until(async () => receiver.deliveries.length === before + 1, 'a redelivery');

  await panel.getByRole('button', { name: 'Close' }).click();
  await panel.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /ping/ }).nth(2).waitFor();
  for (const key of ['j', 'x', 'j', 'x', 'x', 'x']) await page.keyboard.press(key);
  await page.getByText('2 selected').waitFor();
  assert.deepEqual(await violationsOn(page), []);
  await page.getByRole('button', { name: 'Redeliver selected' }).click();
  const asked = page.getByRole('dialog', { name: 'Redeliver selected deliveries' });
  await asked.getByText('2 deliveries will be sent').waitFor();
  await asked.getByRole('button', { name: 'Redeliver' }).click();
  await page.getByText('2 redeliveries queued').waitFor();
  await until(async () => receiver.deliveries.length === before + 3, 'two redeliveries');
  await page.getByRole('button', { name: 'Redeliver selected' }).waitFor({ state: 'detached' });
});

it('shows a failing app with its success rate', { skip: SKIP }, async () => {
  const failing = await WebhookReceiver.start((_, response) => response.writeHead(503).end());
  const made = await server.http.send('/ops/v1/apps', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'billing', webhook: { url: `${failing.url}/hook` } }),
  });
  const { id } = JSON.parse(made.text) as { id: number };
  for (let count = 0; count < 3; count++)
    await server.http.send(`/ops/v1/apps/${id}/ping`, { method: 'POST' });
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/webhooks`);
  await page.getByRole('row', { name: /billing ✕ failing .* 0 %/ }).waitFor();
  await page.getByRole('row', { name: /ci ✓ active .* \d+ % / }).waitFor();
  const bars = page.getByRole('row', { name: /billing/ }).getByRole('img');
  await bars.and(page.getByLabel(/^Last 6 h: 0 succeeded, [34] failed$/)).waitFor();
  const heightsOf = async (part: string): Promise<readonly number[]> => {
    const rects = await bars.locator(`rect.${part}`).all();
    return await Promise.all(rects.map(async (each) => Number(await each.getAttribute('height'))));
  };
  assert.ok(Math.max(...(await heightsOf('failed'))) > 20, 'the highest bar has the full height');
  assert.equal(Math.max(...(await heightsOf('succeeded'))), 0);
  assert.deepEqual(await violationsOn(page), []);
  await page.goto(`${server.url}/console/webhooks/${id}/configuration`);
  await page.getByText(/^0 % of \d+ deliveries in the last hour succeeded/).waitFor();
  await page.getByText('✕ failing').waitFor();
  if (PICTURES) {
    await page.screenshot({ path: `${PICTURES}/webhook-configuration-light.png` });
    await page.goto(`${server.url}/console/webhooks`);
    await page.getByRole('row', { name: /billing ✕ failing/ }).waitFor();
    await page.screenshot({ path: `${PICTURES}/webhook-apps-light.png` });
  }
  // Home adds the deliveries of both apps. This server has no time-series service.
  await page.goto(`${server.url}/console/`);
  const tile = page.getByRole('link', { name: /^Deliveries, last 6 h \d+ % ok/ });
  await tile.getByLabel(/^Last 6 h: [1-9]\d* succeeded, [1-9]\d* failed$/).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/home-deliveries-light.png` });
  await server.http.send(`/ops/v1/apps/${id}`, { method: 'DELETE' });
  await failing[Symbol.asyncDispose]();
});

it('redrives the failures of a time range after a preview', { skip: SKIP }, async () => {
  isBroken = true;
  for (const ref of ['a', 'b', 'c']) {
    await server.http.send('/ops/v1/events', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ event: 'push', payload: { ref } }),
    });
  }
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/`);
  await page.getByRole('link', { name: 'Webhooks' }).first().click();
  await page
    .getByRole('row', { name: /push ✕ 500/ })
    .nth(2)
    .waitFor();
  isBroken = false;
  const before = receiver.deliveries.length;
  await page.getByRole('link', { name: 'Redrive' }).click();
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('3 events will be redelivered.').waitFor();
  assert.equal(receiver.deliveries.length, before, 'a preview sends nothing');
  await page.getByRole('button', { name: 'Start' }).click();
  assert.equal(await clicksOn(page), 4);
  await page.getByText('All queued deliveries have been attempted.').waitFor();
  const sent = receiver.deliveries.slice(before).map(({ body }) => JSON.parse(String(body)).ref);
  assert.deepEqual(sent.sort(), ['a', 'b', 'c']);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('0 events will be redelivered.').waitFor();
});

it('publishes an event with the last payload of its kind', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  const id = await appId();
  await page.goto(`${server.url}/console/webhooks/${id}/publish`);
  await page.getByLabel('Event').fill('star');
  await page
    .getByText(/^No app will receive this event: .* is not subscribed to star\.$/)
    .waitFor();
  await page.getByText(/^A sample\./).waitFor();
  assert.ok((await page.locator('datalist option[value=pull_request]').count()) > 0);
  await page.getByLabel('Event').fill('push');
  await page.getByText(/^1 app will receive this event: /).waitFor();
  const payload = page.getByLabel('Payload');
  for (let tries = 0; tries < 200; tries++) {
    if ((await payload.inputValue()).includes('"ref"')) break;
    await page.waitForTimeout(50);
  }
  assert.match(await payload.inputValue(), /"ref"/);
  await page.getByLabel('Payload').fill('{"ref": "d"');
  await page.getByText('Invalid payload').waitFor();
  await page.getByLabel('Payload').fill('{"ref": "d"}');
  await page.getByLabel('Deliver at').fill('2026-02-30');
  await page.getByText('Invalid time').waitFor();
  await page.getByLabel('Deliver at').fill('2026-01-01');
  await page.getByLabel('Idempotency key').fill('console-1');
  await page.getByLabel('All subscribed apps').check();
  await page.getByText(/ will receive this event: /).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/webhooks-publish.png`, fullPage: true });
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('link', { name: 'View its deliveries' }).waitFor();
  // The key was used, so the server publishes nothing more.
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('This idempotency key was already used').waitFor();
  await page.getByRole('link', { name: 'View its deliveries' }).click();
  await page.getByRole('row', { name: /push ✓ 200 OK Attempt 1/ }).waitFor();
});

it('changes the webhook, rotates its secret and suspends the app', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  const id = await appId();
  await page.goto(`${server.url}/console/webhooks/${id}/configuration`);
  await page.getByLabel('Events').fill('issues');
  await page.getByLabel('Content type').selectOption('form');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Webhook updated').waitFor();
  const stored = JSON.parse((await server.http.send(`/ops/v1/apps/${id}`)).text).hook;
  assert.deepEqual(stored.events, ['issues']);
  assert.equal(stored.config.content_type, 'form');
  // The server refuses this address, because only loopback is allowed beside public addresses.
  await page.getByLabel('URL').fill('http://user:pass@10.0.0.1/hook');
  await page.getByText('10.0.0.1 is in the blocked range 10.0.0.0/8').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();

  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Overlap').fill('2h');
  await dialog.getByText('The old secret expires after 2 h.').waitFor();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByText('New webhook secret').waitFor();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();

  await page.getByRole('button', { name: 'Suspend' }).click();
  await page.getByText('– suspended').waitFor();
  const { text } = await server.http.send('/ops/v1/apps');
  assert.notEqual((JSON.parse(text) as { suspended_at: unknown }[])[0]?.suspended_at, null);
});

it('draws the retry schedule, and keeps a draft when another user changes the webhook', {
  skip: SKIP,
}, async () => {
  const page = await (await browser.context()).newPage();
  const id = await appId();
  const checked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/webhook-targets')) checked.push(request.url());
  });
  await page.goto(`${server.url}/console/webhooks/${id}/configuration`);
  const drawn = page.getByRole('figure', { name: 'Retry schedule' });
  await drawn.getByText('One attempt. Failed events are not retried').waitFor();
  await page.getByLabel('Retries').selectOption('standard');
  assert.equal(await drawn.getByRole('listitem').count(), 10);
  // The sum of the delays of the specification: 272,105 s.
  await drawn.getByText('10 attempts within 3 d 3 h.').waitFor();
  if (PICTURES) {
    await page.screenshot({ path: `${PICTURES}/webhook-retry-light.png` });
    await page.setViewportSize({ width: 360, height: 1400 });
    await page.screenshot({ path: `${PICTURES}/webhook-retry-phone.png` });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  await page.getByLabel('Retries').selectOption('schedule');
  await page.getByLabel('Delay before each retry').fill('1s, soon');
  await page.getByText('Invalid delays').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);
  await page.getByLabel('Delay before each retry').fill('1s, 59s');
  await drawn.getByText('at 1 min').waitFor();
  assert.deepEqual(await violationsOn(page), []);

  const patch = (webhook: object) =>
    server.http.send(`/ops/v1/apps/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ webhook }),
    });
  await patch({ events: ['release'] });
  await page.getByText('Another user has changed this webhook.').waitFor();
  assert.equal(await page.getByLabel('Delay before each retry').inputValue(), '1s, 59s');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Webhook updated').waitFor();
  await page.getByText('Another user has').waitFor({ state: 'detached' });
  const { hook } = JSON.parse((await server.http.send(`/ops/v1/apps/${id}`)).text);
  assert.deepEqual(hook.retry, { policy: 'schedule', schedule: [1, 59] });
  // An unchanged form follows the server.
  await patch({ retry: { policy: 'none' } });
  await drawn.getByText('One attempt. Failed events are not retried').waitFor();
  assert.equal(await page.getByLabel('Retries').inputValue(), 'none');
  await page.getByLabel('URL').fill('https://user:pass@example.com/secret?key=1');
  await page.getByText('✓ Deliveries to this host are allowed.').waitFor();
  assert.match(checked.at(-1) ?? '', /url=https%3A%2F%2Fexample\.com$/);
});

it('has no page for an app or delivery without a number', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  for (const path of ['webhooks/settings', `webhooks/${await appId()}/nowhere`]) {
    await page.goto(`${server.url}/console/${path}`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    assert.equal(await page.locator('main button').count(), 0, path);
  }
});

async function appId(): Promise<number> {
  const { text } = await server.http.send('/ops/v1/apps');
  return (JSON.parse(text) as { id: number }[])[0]?.id ?? 0;
}

it('deletes an app by name', { skip: SKIP }, async () => {
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/webhooks?all=1`);
  await page.getByRole('button', { name: 'Delete ci' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('ci');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete app' }).click();
  await page.getByText('No apps yet.').waitFor();
});
