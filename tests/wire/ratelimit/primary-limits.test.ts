// Source: rate-limits, sections 3.1, 4.1, 4.2.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { basic, bucketOf, Platform, PROBE, text } from './platform.js';

let platform: Platform;
before(async () => {
  platform = await Platform.start();
});
after(async () => await platform[Symbol.asyncDispose]());

const ORGANIZATION = { enterprise: 900, free: 901 } as const;

describe('each row of the table of primary limits', () => {
  before(async () => {
    for (const [plan, id] of Object.entries(ORGANIZATION)) {
      await platform.register({
        kind: 'organization',
        id,
        login: `org-${plan}`,
        plan,
        users_count: 0,
      });
    }
  });
  let lastId = 1000;
  const nextId = () => {
    lastId += 1;
    return lastId;
  };
  /** Limit and remaining requests in the response to the caller's first request. */
  const checkFirst = async (row: string, authorization: string | undefined, limit: number) => {
    const response = await platform.send(PROBE, authorization);
    assert.equal(response.status, 200, `${row}: ${response.text}`);
    assert.equal(bucketOf(response), `core 1+${limit - 1}/${limit}`, row);
  };
  const organization = (id: number) => ({ type: 'Organization', id });

  it('an address has 60 an hour', async () => {
    await checkFirst('unauthenticated', undefined, 60);
  });

  it('a user with a personal token has 5,000, with either scheme and over Basic', async () => {
    const token = await platform.token({ kind: 'personal', identity: `user:${nextId()}` });
    await checkFirst('personal', token, 5_000);
    const text = token.slice('Bearer '.length);
    const spellings = [`token ${text}`, `bearer ${text}`, `TOKEN ${text}`, basic('any', text)];
    for (const [index, spelling] of spellings.entries()) {
      const used = index + 2;
      const response = await platform.send(PROBE, spelling);
      assert.equal(bucketOf(response), `core ${used}+${5_000 - used}/5000`, spelling);
    }
  });

  it('all tokens of one user share one bucket, regardless of their issuer', async () => {
    const identity = `user:${nextId()}`;
    const kinds = ['personal', 'oauth', 'app_user', 'personal'];
    for (const [index, kind] of kinds.entries()) {
      const response = await platform.send(PROBE, await platform.token({ kind, identity }));
      assert.equal(bucketOf(response), `core ${index + 1}+${4_999 - index}/5000`, kind);
    }
  });

  it('a user has 15,000 through an app of an enterprise organization', async () => {
    const makeApp = async (name: string, plan: keyof typeof ORGANIZATION) => {
      const owner = { login: `org-${plan}`, id: ORGANIZATION[plan], type: 'Organization', plan };
      const made = await platform.ops('POST', 'apps', { name, owner });
      assert.equal(made.status, 201, made.text);
      return Number(text(JSON.parse(made.text), 'id'));
    };
    const through = async (via_app: number) =>
      await platform.token({ kind: 'app_user', identity: `user:${nextId()}`, via_app });
    await checkFirst('enterprise', await through(await makeApp('big', 'enterprise')), 15_000);
    await checkFirst('free', await through(await makeApp('small', 'free')), 5_000);
  });

  it('a user has 15,000 through an OAuth app that an enterprise organization of the user owns or approved', async () => {
    const cases = [
      ['owned, member', { owner: organization(900) }, [900], 15_000],
      ['owned, no member', { owner: organization(900) }, [], 5_000],
      ['approved, member', { owner: organization(901), approved_by: [900] }, [900], 15_000],
      ['approved, member of another', { approved_by: [900] }, [901], 5_000],
      ['free organization', { owner: organization(901), approved_by: [901] }, [901], 5_000],
    ] as const;
    for (const [row, app, organizations, limit] of cases) {
      const { id: via_app } = await platform.register({ kind: 'oauth_app', ...app });
      const id = nextId();
      await platform.register({ kind: 'user', id, organizations });
      const token = await platform.token({ kind: 'oauth', identity: `user:${id}`, via_app });
      await checkFirst(row, token, limit);
      const byKey = { kind: 'oauth', identity: `user:${id}`, via_app: `oauth-app:${via_app}` };
      const response = await platform.send(PROBE, await platform.token(byKey));
      assert.equal(response.headers['x-ratelimit-limit'], String(limit), row);
    }
  });

  it('an OAuth app with client id and secret has 5,000, of an enterprise organization 15,000', async () => {
    for (const [id, limit] of [
      [901, 5_000],
      [900, 15_000],
    ] as const) {
      const app = await platform.register({ kind: 'oauth_app', owner: organization(id) });
      await checkFirst('oauth app', basic(text(app, 'id'), text(app, 'secret')), limit);
      const wrong = await platform.send(PROBE, basic(text(app, 'id'), 'not-the-secret'));
      assert.equal(wrong.status, 401);
    }
  });

  it('the token of a workflow has 1,000 per repository, of an enterprise account 15,000', async () => {
    await platform.register({ kind: 'user', id: 77, plan: 'enterprise' });
    for (const [owner, limit] of [
      [organization(901), 1_000],
      [organization(900), 15_000],
      [{ type: 'User', id: 77 }, 15_000],
    ] as const) {
      const id = nextId();
      await platform.register({ kind: 'repository', id, owner });
      const token = await platform.token({ kind: 'workflow', identity: `repo:${id}` });
      await checkFirst(`repository of ${owner.type} ${owner.id}`, token, limit);
    }
  });

  it('an installation grows by 50 per repository and user beyond 20, up to 12,500; enterprise has 15,000', async () => {
    // Repositories, users, limit: the table of section 4.1.
    const table = [
      [0, 0, 5_000],
      [20, 20, 5_000],
      [21, 0, 6_050],
      [20, 21, 6_050],
      [140, 10, 12_000],
      [21, 21, 7_100],
      [75, 75, 12_500],
      [100, 20, 10_000],
      [150, 0, 12_500],
      [1000, 1000, 12_500],
    ] as const;
    const install = async (account: object, repositories_count: number) => {
      const id = nextId();
      await platform.register({ kind: 'installation', id, account, repositories_count });
      return await platform.token({ kind: 'installation', identity: `installation:${id}` });
    };
    for (const [repositories, users_count, limit] of table) {
      const id = nextId();
      await platform.register({ kind: 'organization', id, users_count });
      const token = await install(organization(id), repositories);
      await checkFirst(`${repositories} repositories, ${users_count} users`, token, limit);
    }
    await checkFirst('enterprise', await install(organization(900), 0), 15_000);
    // An installation on a user account has no further users to count.
    await checkFirst('user account', await install({ type: 'User', id: 5 }, 21), 6_050);
  });

  it('the limit depends on the credential, while usage is shared', async () => {
    const id = nextId();
    await platform.register({ kind: 'user', id, organizations: [900] });
    const app = await platform.register({ kind: 'oauth_app', owner: organization(900) });
    const identity = `user:${id}`;
    const strong = await platform.token({ kind: 'oauth', identity, via_app: app['id'] });
    const weak = await platform.token({ kind: 'personal', identity });
    assert.equal(bucketOf(await platform.send(PROBE, strong)), 'core 1+14999/15000');
    assert.equal(bucketOf(await platform.send(PROBE, weak)), 'core 2+4998/5000');
  });

  it('applies changed attributes and overrides at the next request and keeps what was used', async () => {
    const id = nextId();
    const key = `installation:${id}`;
    await platform.register({ kind: 'installation', id, repositories_count: 20 });
    const token = await platform.token({ kind: 'installation', identity: key });
    assert.equal(bucketOf(await platform.send(PROBE, token)), 'core 1+4999/5000');
    await platform.ops('PATCH', `identities/${key}`, { repositories_count: 21 });
    assert.equal(bucketOf(await platform.send(PROBE, token)), 'core 2+6048/6050');
    await platform.ops('PATCH', `identities/${key}`, {
      overrides: { core: { limit: 3, window: 60 }, search: { limit: 2 ** 31 - 2, window: 60 } },
    });
    assert.equal(bucketOf(await platform.send(PROBE, token)), 'core 3+0/3');
    assert.equal((await platform.send(PROBE, token)).status, 403);
    await platform.ops('PATCH', `identities/${key}`, { overrides: { core: 'exempt' } });
    const exempt = await platform.send(PROBE, token);
    assert.equal(exempt.status, 200);
    assert.equal(exempt.headers['x-ratelimit-limit'], undefined);
  });
});

describe('every other resource has its own bucket', () => {
  it('shows the limits of users and of addresses', async () => {
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const limitsOf = async (authorization?: string) => {
      const response = await platform.send('/rate_limit', authorization);
      const { resources } = JSON.parse(response.text) as {
        resources: Record<string, { limit: number }>;
      };
      return Object.fromEntries(
        Object.entries(resources).map(([name, { limit }]) => [name, limit]),
      );
    };
    assert.deepEqual(await limitsOf(token), {
      core: 5_000,
      search: 30,
      graphql: 5_000,
      integration_manifest: 5_000,
      source_import: 100,
      code_scanning_upload: 1_000,
      code_scanning_autofix: 10,
      actions_runner_registration: 10_000,
      scim: 15_000,
      dependency_snapshots: 100,
      dependency_sbom: 100,
      audit_log: 1_750,
      audit_log_streaming: 15,
      code_search: 10,
      lfs: 3_000,
    });
    const anonymous = await limitsOf();
    assert.deepEqual(
      [anonymous['core'], anonymous['search'], anonymous['graphql'], anonymous['lfs']],
      [60, 10, 0, 300],
    );
  });
});
