import type { Settings } from '../../settings.js';

/** What a client has to know of the limits, with the numbers of this server. Source: rate-limits, sections 4, 7 and 8. */
export function limitsText(settings: Settings['rateLimit']): string {
  const count = (value: number): string => value.toLocaleString('en-US');
  const primary = settings.status_primary;
  const secondary = settings.status_secondary;
  return `
<h2 id="about-primary-rate-limits">Primary limits</h2>
<p>Each identity has a number of requests per window: a user, an installation or an app, with all of its tokens together,
and who sends no credential by address. Answers carry what it has and has used: <code>x-ratelimit-limit</code>,
<code>x-ratelimit-remaining</code>, <code>x-ratelimit-used</code>, <code>x-ratelimit-resource</code> and
<code>x-ratelimit-reset</code>, the second (UTC, since 1970) at which the window reopens. <code>GET /rate_limit</code> shows
all of it and costs nothing.</p>
<p>A request beyond that is refused with ${primary} (game data: 429) and <code>x-ratelimit-remaining: 0</code>. Wait until
<code>x-ratelimit-reset</code>.</p>
<h2 id="about-secondary-rate-limits">Secondary limits</h2>
<ul>
<li>${count(settings.secondary_concurrency)} requests of one identity at a time</li>
<li>${count(settings.secondary_points_rest)} points per endpoint and minute: one for a read, five for a write</li>
<li>${count(settings.secondary_points_graph)} points of graph queries per minute</li>
<li>${count(settings.secondary_cpu_seconds)} seconds of work per minute</li>
<li>${count(settings.secondary_content_minute)} requests per minute and ${count(settings.secondary_content_hour)} per hour that
create content</li>
</ul>
<p>A request beyond one of them is refused with ${secondary} (game data: 429) and <code>retry-after</code>: wait so many
seconds, and longer each time it happens again.</p>
<h2 id="going-on">Who goes on</h2>
<p>${
    settings.ban_enabled
      ? `After ${count(settings.ban_threshold)} refusals within ten minutes an identity is shut out for ${count(settings.ban_minutes)} minutes, and each further time for twice as long.`
      : 'Refused requests have no further consequence on this server.'
  }</p>`;
}
