// Source: docs/CONSOLE.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { clicksOn, SKIP, TestBrowser, violationsOn } from './browser.js';

const PICTURES = process.env['PLINTH_TEST_PICTURES'];
/** The cell contents of a row. */
const nameOf = async (row: Locator): Promise<string> =>
  (await row.getByRole('cell').allTextContents()).join(' ');

it('who used most is shown, banned, unbanned and reset', { skip: SKIP }, async () => {
  const server = await ServerInProcess.start({
    flags: ['--services', 'ratelimit', '--without-auth'],
  });
  const browser = await TestBrowser.start();
  try {
    const check = async (cost: number): Promise<boolean> => {
      const body = JSON.stringify({ identity: 'user:7', resource: 'core', cost });
      const headers = { 'content-type': 'application/json' };
      const { text } = await server.http.send('/ops/v1/rate-limits/check', {
        method: 'POST',
        body,
        headers,
      });
      return (JSON.parse(text) as { allowed: boolean }).allowed;
    };
    assert.equal(await check(3), true);
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console/limits`);
    await page.getByRole('row', { name: /user:7 3 \/ 5,000 (?:1 h|59 min)/ }).waitFor();
    await page.getByRole('button', { name: 'user:7' }).click();
    await page.getByRole('row', { name: /core 3 / }).waitFor();

    await page.getByRole('button', { name: 'Ban …' }).click();
    const dialog = page.getByRole('dialog');
    assert.equal(await dialog.getByLabel('Caller').inputValue(), 'user:7');
    await dialog.getByLabel('Duration').fill('soon');
    await dialog.getByText('Invalid duration').waitFor();
    await dialog.getByLabel('Duration').fill('1h');
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click();
    await page.getByText(/^banned until/).waitFor();
    assert.equal(await check(1), false);
    await page.getByRole('button', { name: 'Unban user:7' }).click();
    await page.getByText(/^No bans\./).waitFor();
    assert.equal(await check(1), true);
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('No requests in the current windows.').waitFor();
  } finally {
    await browser.close();
    await server.close();
  }
});

it('simulates a request without counting it', { skip: SKIP }, async () => {
  const server = await ServerInProcess.start({
    flags: ['--services', 'ratelimit,webhooks', '--without-auth'],
  });
  const browser = await TestBrowser.start();
  const send = async (path: string, body: object) =>
    await server.http.send(`/ops/v1/rate-limits/${path}`, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    });
  const usage = async (): Promise<unknown> => {
    const { text } = await server.http.send('/ops/v1/rate-limits/ip%3A192.0.2.9');
    const { buckets, secondary } = JSON.parse(text);
    return [buckets.core.used, secondary];
  };
  try {
    await send('check', { identity: 'ip:192.0.2.9', cost: 58 });
    const before = await usage();
    const context = await browser.context();
    const page = await context.newPage();
    // Home warns about callers near their limit.
    await page.goto(`${server.url}/console/`);
    await page.getByText('ip:192.0.2.9 used 58 of 60 core requests; resets in').waitFor();
    await page.goto(`${server.url}/console/limits?identity=ip:192.0.2.9`);
    await page.getByRole('link', { name: 'Simulate a request' }).click();
    assert.equal(await page.getByLabel('Caller').inputValue(), 'ip:192.0.2.9');
    await page.getByLabel('Route').selectOption('PATCH /api/v3/app/hook/config');
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByText('✓ allowed').waitFor();
    await page.getByText('2 such requests remaining').waitFor();
    await page.getByRole('row', { name: 'Primary limit core 58 +1 60 ✓ passed' }).waitFor();
    await page.getByRole('row', { name: /^Concurrent requests 0 \+1 100 ✓/ }).waitFor();
    await page.getByRole('row', { name: /^Endpoint points per minute 0 \+5 900/ }).waitFor();
    assert.deepEqual(await violationsOn(page), []);
    // The third of several requests exceeds the limit of 60.
    await page.getByLabel('Requests').fill('1001');
    await page.getByText('enter an integer from 1 to 1,000').waitFor();
    await page.getByLabel('Requests').fill('50');
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByText('✕ request 3 rejected: primary limit').waitFor();
    await page.getByText('2 requests allowed before').waitFor();
    await page.getByText('Nothing was charged.').waitFor();
    await page.getByRole('row', { name: 'Primary limit core 60 +1 60 ✕ rejected' }).waitFor();
    assert.deepEqual(await violationsOn(page), []);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/limits-simulate-count.png` });
    await page.getByLabel('Requests').fill('1');
    assert.deepEqual(await usage(), before, 'nothing was counted');

    // An exhausted caller sees the response that the simulation predicts.
    await send('check', { identity: 'ip:192.0.2.9', cost: 2 });
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByText('✕ rejected: primary limit').waitFor();
    await page.getByRole('row', { name: 'Primary limit core 60 +1 60 ✕ rejected' }).waitFor();
    await page.getByRole('row', { name: /^Concurrent requests .* – not checked/ }).waitFor();
    const refused = JSON.parse((await send('check', { identity: 'ip:192.0.2.9' })).text);
    await page.getByRole('heading', { name: `Response ${refused.status}` }).waitFor();
    await page.getByText(refused.body.message).waitFor();

    await send('bans', { identity: 'ip:192.0.2.9', duration_seconds: 600 });
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByText('✕ rejected: ban').waitFor();
    await page.getByLabel('Caller').fill('nobody');
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByRole('alert').getByText('use a key like user:1').waitFor();
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});

it('lists the callers with the most rejected requests, and simulates their next one', {
  skip: SKIP,
}, async () => {
  const server = await ServerInProcess.start({
    flags: ['--services', 'ratelimit', '--without-auth'],
  });
  const browser = await TestBrowser.start();
  /** Uses the limit of 60 and exceeds it. */
  const exceed = async (identity: string, count: number): Promise<void> => {
    const check = (cost: number) => ({ identity, cost, points: 0 });
    const body = JSON.stringify([check(60), ...Array.from({ length: count }, () => check(1))]);
    await server.http.send('/ops/v1/rate-limits/check-batch', {
      ...{ method: 'POST', body },
      headers: { 'content-type': 'application/json' },
    });
  };
  try {
    await exceed('ip:192.0.2.7', 3);
    await exceed('ip:192.0.2.8', 41);
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console/limits`);
    const rows = page.getByRole('region', { name: 'Rejected requests' }).getByRole('row');
    await rows.nth(2).waitFor();
    // The requests may have been sent just before the end of an hour.
    const counts = /^ip:192\.0\.2\.8 (?:41 0|0 41|\d+ \d+) Primary limit 41 .* Simulate$/;
    assert.match(await nameOf(rows.nth(1)), counts);
    assert.match(await nameOf(rows.nth(2)), /^ip:192\.0\.2\.7 .* Primary limit 3 /);
    assert.deepEqual(await violationsOn(page), []);
    await rows.nth(1).getByRole('button', { name: 'ip:192.0.2.8' }).click();
    await page.getByText(/requests rejected in this hour/).waitFor();
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/limits-rejected-light.png` });
    await page.getByRole('link', { name: 'Simulate a request from ip:192.0.2.8' }).click();
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByText('✕ rejected: primary limit').waitFor();

    // A list that is cut shows it.
    for (let last = 10; last < 32; last++) await exceed(`ip:192.0.2.${last}`, 1);
    await page.goto(`${server.url}/console/limits`);
    await page.getByText('Showing 20 of 24 callers.').waitFor();
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});

it('lifts a ban in three clicks from the first page', { skip: SKIP }, async () => {
  const server = await ServerInProcess.start({
    flags: ['--services', 'ratelimit', '--without-auth'],
  });
  const browser = await TestBrowser.start();
  try {
    await server.http.send('/ops/v1/rate-limits/bans', {
      ...{ method: 'POST', body: JSON.stringify({ identity: 'user:7', duration_seconds: 600 }) },
      headers: { 'content-type': 'application/json' },
    });
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console/`);
    await page.getByRole('link', { name: 'Rate limits', exact: true }).first().click();
    await page.getByRole('button', { name: 'user:7', exact: true }).click();
    await page.getByRole('button', { name: 'Unban', exact: true }).click();
    await page.getByText(/^No bans\./).waitFor();
    assert.equal(await clicksOn(page), 3);
  } finally {
    await browser.close();
    await server.close();
  }
});
