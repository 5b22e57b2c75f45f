import type { Settings } from '../../settings.js';

/** Explains the limits for clients, with this server's values. Source: rate-limits, sections 4, 7 and 8. */
export function limitsText(settings: Settings['rateLimit']): string {
  const count = (value: number): string => value.toLocaleString('en-US');
  const primary = settings.status_primary;
  const secondary = settings.status_secondary;
  return `
<h2 id="about-primary-rate-limits">Primary limits</h2>
<p>Each identity has a limit of requests per window. An identity is a user, an installation or an app, with all of its tokens.
Requests without a credential are counted per address. Responses contain the current values: <code>x-ratelimit-limit</code>,
<code>x-ratelimit-remaining</code>, <code>x-ratelimit-used</code>, <code>x-ratelimit-resource</code> and
<code>x-ratelimit-reset</code>, the UTC epoch second at which the window resets. <code>GET /rate_limit</code> lists all
limits and costs nothing.</p>
<p>Requests above the limit return ${primary} (game data: 429) and <code>x-ratelimit-remaining: 0</code>. Wait until
<code>x-ratelimit-reset</code>.</p>
<h2 id="about-secondary-rate-limits">Secondary limits</h2>
<ul>
<li>${count(settings.secondary_concurrency)} concurrent requests per identity</li>
<li>${count(settings.secondary_points_rest)} points per endpoint and minute: one for a read, five for a write</li>
<li>${count(settings.secondary_points_graph)} points of graph queries per minute</li>
<li>${count(settings.secondary_cpu_seconds)} seconds of handler time per minute</li>
<li>${count(settings.secondary_content_minute)} requests per minute and ${count(settings.secondary_content_hour)} per hour that
create content</li>
</ul>
<p>Requests above a secondary limit return ${secondary} (game data: 429) with <code>retry-after</code>. Wait this number of
seconds, and longer after each further refusal.</p>
<h2 id="going-on">Bans</h2>
<p>${
    settings.ban_enabled
      ? `After ${count(settings.ban_threshold)} refusals within ten minutes an identity is banned for ${count(settings.ban_minutes)} minutes. Each further ban lasts twice as long.`
      : 'This server does not ban clients.'
  }</p>`;
}
