interface SampleEvent {
  readonly event: string;
  readonly action?: string;
  readonly payload: object;
}

const SENDER = { id: 1, login: 'octo', type: 'User' };
const REPOSITORY = {
  id: 1,
  name: 'garden',
  full_name: 'octo/garden',
  private: false,
  owner: SENDER,
  default_branch: 'main',
};
const BEFORE = '1111111111111111111111111111111111111111';
const AFTER = '2222222222222222222222222222222222222222';
const COMMIT = {
  id: AFTER,
  message: 'Water the beds at six',
  timestamp: '2026-01-31T06:00:00Z',
  author: { name: 'Octo', email: 'octo@example.com' },
  added: [],
  modified: ['beds.md'],
  removed: [],
};
const ISSUE = { id: 11, number: 1, title: 'The pump is loud', state: 'open', user: SENDER };
const PULL_REQUEST = {
  id: 12,
  number: 2,
  title: 'A quieter pump',
  state: 'open',
  merged: false,
  user: SENDER,
  head: { ref: 'quiet', sha: AFTER },
  base: { ref: 'main', sha: BEFORE },
};

const around = (more: object): object => ({ ...more, repository: REPOSITORY, sender: SENDER });
const bare = (payload: object) => ({ payload: around(payload) });

/** Sample payloads in the shape that receivers expect, by `event` or `event.action`. */
const SAMPLES: Readonly<Record<string, { readonly payload: object }>> = {
  push: bare({
    ref: 'refs/heads/main',
    before: BEFORE,
    after: AFTER,
    commits: [COMMIT],
    head_commit: COMMIT,
    pusher: { name: 'octo', email: 'octo@example.com' },
  }),
  create: bare({ ref: 'quiet', ref_type: 'branch', master_branch: 'main' }),
  delete: bare({ ref: 'quiet', ref_type: 'branch' }),
  'issues.opened': bare({ issue: ISSUE }),
  'issues.closed': bare({ issue: { ...ISSUE, state: 'closed' } }),
  'issue_comment.created': bare({
    issue: ISSUE,
    comment: { id: 13, body: 'It is.', user: SENDER },
  }),
  'pull_request.opened': bare({ number: 2, pull_request: PULL_REQUEST }),
  'pull_request.closed': bare({
    number: 2,
    pull_request: { ...PULL_REQUEST, state: 'closed', merged: true },
  }),
  'release.published': bare({
    release: { id: 14, tag_name: 'v1.0.0', name: '1.0.0', draft: false, prerelease: false },
  }),
  'workflow_run.completed': bare({
    workflow_run: { id: 15, name: 'test', head_sha: AFTER, conclusion: 'success' },
  }),
  'check_run.completed': bare({
    check_run: { id: 16, name: 'test', head_sha: AFTER, conclusion: 'failure' },
  }),
  deployment: bare({ deployment: { id: 17, sha: AFTER, ref: 'main', environment: 'production' } }),
  'star.created': bare({ starred_at: '2026-01-31T06:00:00Z' }),
};

export const SAMPLE_NAMES: readonly string[] = Object.keys(SAMPLES);

/** Returns `undefined` for an unknown name. */
export function sampleEvent(name: string): SampleEvent | undefined {
  if (!Object.hasOwn(SAMPLES, name)) return undefined;
  const [event = name, action] = name.split('.', 2);
  return { event, ...(action !== undefined && { action }), payload: SAMPLES[name]?.payload ?? {} };
}
