// Source: docs/README.md: the documentation pages in a browser, under the CSP of docs/SECURITY-NETWORK.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { buildSite, ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

it('searches the documentation, and follows the color scheme of the browser', {
  skip: SKIP,
}, async (context) => {
  const noSite = await buildSite();
  if (noSite !== undefined) return context.skip(noSite);
  const server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  const browser = await TestBrowser.start();
  const shots = process.env['PLINTH_TEST_SHOTS'];
  try {
    for (const theme of ['light', 'dark'] as const) {
      const page = await (await browser.context({ theme })).newPage();
      await page.goto(`${server.url}/docs${theme === 'dark' ? '/' : ''}`);
      await page.getByRole('heading', { name: 'Documentation' }).waitFor();
      if (shots !== undefined) await page.screenshot({ path: `${shots}/front-${theme}.png` });
      const isDark = await page.evaluate("document.documentElement.classList.contains('dark')");
      assert.equal(isDark, theme === 'dark');
      await page.getByRole('button', { name: 'Search' }).first().click();
      await page
        .getByRole('searchbox')
        .or(page.locator('#localsearch-input'))
        .fill('proxy_next_upstream');
      const found = page.locator('.VPLocalSearchBox a.result').first();
      await found.waitFor();
      if (shots !== undefined) await page.screenshot({ path: `${shots}/search-${theme}.png` });
      await found.click();
      await page.waitForURL(/\/docs\/LOAD-BALANCERS\.html/);
      await page.getByRole('heading', { name: 'Configure a load balancer' }).waitFor();
      await page.goto(`${server.url}/docs/TUTORIAL.html`);
      await page.getByRole('heading', { name: 'First steps' }).waitFor();
      if (shots !== undefined) await page.screenshot({ path: `${shots}/tutorial-${theme}.png` });
      await page.getByRole('link', { name: 'This server' }).click();
      await page.getByRole('heading', { name: 'Platform API' }).waitFor();
    }
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
