// Source: tsdb-http, "v1 query endpoint" and query-languages, "Result shapes".
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type HttpRequest, type HttpResponse, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
  const lines = [
    'cpu,host=a usage=0.9,n=1i 3000000531000000000',
    'cpu,host=b usage=3,n=9223372036854775807i 3000000532000000001',
    'cpu,host=b usage=4.5 3000000533000000000',
  ];
  const response = await server.http.send('/write?db=v1', { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
});
after(async () => await server.close());

const get = (
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> =>
  server.http.send(`/query?${new URLSearchParams(parameters)}`, { headers });

const post = (body: HttpRequest['body'], contentType: string, query = ''): Promise<HttpResponse> =>
  server.http.send(`/query${query}`, {
    method: 'POST',
    ...(body !== undefined && { body }),
    headers: contentType === '' ? {} : { 'content-type': contentType },
  });

function assertText(response: HttpResponse, text: string, contentType = 'application/json'): void {
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers['content-type'], contentType);
  assert.equal(response.text, text);
}

const COUNT =
  '{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","count"],"values":[["1970-01-01T00:00:00Z",3]]}]}]}\n';
const Q = 'SELECT count(usage) FROM cpu';

describe('/query', () => {
  it('V-01 takes the query from the URL, a form, several parts, JSON or as it is', async () => {
    assertText(await get({ db: 'v1', q: Q }), COUNT);
    const form = `${new URLSearchParams({ db: 'v1', q: Q })}`;
    assertText(await post(form, 'application/x-www-form-urlencoded'), COUNT);
    const parts = ['db', 'v1', 'q', Q];
    const multipart = `--x\r\nContent-Disposition: form-data; name="${parts[0]}"\r\n\r\n${parts[1]}\r\n--x\r\nContent-Disposition: form-data; name="${parts[2]}"; filename="q.txt"\r\n\r\n${parts[3]}\r\n--x--\r\n`;
    assertText(await post(multipart, 'multipart/form-data; boundary=x'), COUNT);
    assertText(await post(JSON.stringify({ db: 'v1', q: Q }), 'application/json'), COUNT);
    assertText(await post(Q, 'application/vnd.influxql', '?db=v1'), COUNT);
    assertText(await post(Q, '', '?db=v1'), COUNT);
    assertText(await post(form, ''), COUNT);
    assertText(await post('db=v1', '', `?${new URLSearchParams({ db: 'other', q: Q })}`), COUNT);
    assertText(await post('', '', `?${form}`), COUNT);
    assertText(await server.http.send(`/query/?${form}`), COUNT);
  });

  it('V-01 lets the body win over the URL', async () => {
    const form = new URLSearchParams({ db: 'v1' }).toString();
    const response = await post(
      form,
      'application/x-www-form-urlencoded',
      `?${new URLSearchParams({ db: 'other', q: Q })}`,
    );
    assertText(response, COUNT);
  });

  it('V-01 refuses two spellings of a parameter that do not agree', async () => {
    const json = (body: object) => post(JSON.stringify(body), 'application/json', '');
    const responses = await Promise.all([
      json({ db: 'v1', database: 'other', q: Q }),
      json({ db: 'v1', q: Q, query_str: 'SHOW DATABASES' }),
      get({ db: 'v1', database: 'other', q: Q }),
    ]);
    for (const { status, text } of responses) {
      assert.equal(status, 400, text);
      assert.match(text, /conflicting values/);
    }
    assertText(await json({ db: 'v1', database: 'v1', q: Q }), COUNT);
    assertText(await get({ database: 'v1', q: Q }), COUNT);
  });

  it('V-01 refuses a body of another type', async () => {
    const response = await post('x', 'image/png', '?db=v1');
    assert.equal(response.status, 400);
    assert.equal(
      (JSON.parse(response.text) as { error: string }).error,
      'invalid mime type (image/png)',
    );
  });

  it('V-01 answers several statements in order', async () => {
    const response = await get({ db: 'v1', q: `${Q}; SHOW MEASUREMENTS;; SELECT n FROM nope` });
    assertText(
      response,
      COUNT.replace(
        ']}]}]}\n',
        ']}]},{"statement_id":1,"series":[{"name":"measurements","columns":["name"],"values":[["cpu"]]}]},{"statement_id":2}]}\n',
      ),
    );
  });

  it('V-01 takes values for placeholders', async () => {
    const q = 'SELECT n FROM cpu WHERE host = $host AND usage < $max';
    const response = await get({ db: 'v1', epoch: 's', q, params: '{"host":"a","max":1}' });
    assertText(
      response,
      '{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","n"],"values":[[3000000531,1]]}]}]}\n',
    );
  });

  it('V-01 takes null for no values: the Go client of version 1 sends it with every query', async () => {
    const q = 'SELECT n FROM cpu WHERE usage < 1 LIMIT 1';
    const plain = await get({ db: 'v1', q });
    assert.match(plain.text, /"series"/);
    assertText(await get({ db: 'v1', q, params: 'null' }), plain.text);
    const form = new URLSearchParams({ db: 'v1', q, params: 'null' });
    assertText(await post(form.toString(), 'application/x-www-form-urlencoded'), plain.text);
    const json = JSON.stringify({ db: 'v1', q, params: null });
    assertText(await post(json, 'application/json'), plain.text);
    // As in 1.x, the placeholder has no value in this case.
    const missing = await get({ db: 'v1', q: 'SELECT n FROM cpu WHERE host = $h', params: 'null' });
    assert.match(missing.text, /Bind parameter '\$h' was referenced/);
  });

  it('V-02 tells the failure of a statement in its place and goes on', async () => {
    const response = await get({
      db: 'v1',
      q: `SELECT mean(usage), n FROM cpu; SELECT n FROM x..y; ${Q}`,
    });
    assert.equal(response.status, 200);
    const { results } = JSON.parse(response.text) as {
      results: { error?: string; series?: unknown }[];
    };
    assert.match(
      results[0]?.error ?? '',
      /^datafusion error: .*Error during planning: mixing aggregate and non-aggregate columns is not supported$/s,
    );
    assert.equal(
      results[1]?.error,
      'Cannot retrieve database: External error: database not found: x',
    );
    assert.ok(results[2]?.series);
  });

  it('V-02 needs a database from somewhere', async () => {
    assertText(
      await get({ q: Q }),
      `{"results":[{"statement_id":0,"error":"must specify a 'db' parameter, or provide the database in the InfluxQL query"}]}\n`,
    );
    assertText(await get({ q: 'SELECT count(usage) FROM v1..cpu' }), COUNT);
    assertText(await get({ db: 'other', q: 'SELECT count(usage) FROM v1.autogen.cpu' }), COUNT);
  });

  it('V-02 refuses requests that cannot be read', async () => {
    const check = async (response: Promise<HttpResponse>, error: string): Promise<void> => {
      const { status, text } = await response;
      assert.equal(status, 400);
      assert.equal((JSON.parse(text) as { error: string }).error, error);
    };
    await check(server.http.send('/query'), "missing query parameters 'db' and 'q'");
    await check(get({ db: 'v1' }), 'expected a query to be provided in the query string or body');
    await check(
      get({ db: 'v1', q: Q, chunked: 'perhaps' }),
      'error decoding params from url: provided string was not `true` or `false`',
    );
  });

  it('V-03 answers in chunks and says when more comes', async () => {
    const response = await get({
      db: 'v1',
      q: 'SELECT usage FROM cpu',
      epoch: 's',
      chunked: 'true',
      chunk_size: '2',
    });
    assertText(
      response,
      '{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","usage"],"values":[[3000000531,0.9],[3000000532,3]],"partial":true}],"partial":true}]}\n' +
        '{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","usage"],"values":[[3000000533,4.5]]}]}]}\n',
    );
  });

  it('V-03 sends each chunk by itself', async () => {
    const q = encodeURIComponent('SELECT usage FROM cpu');
    const url = `${server.url}/query?db=v1&epoch=s&chunked=true&chunk_size=1&q=${q}`;
    const pieces: string[] = [];
    await new Promise<void>((resolve, reject) => {
      request(url, (response) => {
        response.on('data', (piece: Buffer) => pieces.push(piece.toString()));
        response.on('end', resolve);
      })
        .on('error', reject)
        .end();
    });
    assert.equal(pieces.length, 3);
    for (const piece of pieces) assert.match(piece, /^\{"results":\[.+\]\}\n$/);
  });

  it('V-03 has a chunk for each series', async () => {
    const response = await get({
      db: 'v1',
      q: 'SELECT sum(usage) FROM cpu GROUP BY host',
      epoch: 's',
      chunked: 'true',
    });
    assertText(
      response,
      '{"results":[{"statement_id":0,"series":[{"name":"cpu","tags":{"host":"a"},"columns":["time","sum"],"values":[[0,0.9]]}],"partial":true}]}\n' +
        '{"results":[{"statement_id":0,"series":[{"name":"cpu","tags":{"host":"b"},"columns":["time","sum"],"values":[[0,7.5]]}]}]}\n',
    );
  });

  it('V-04 gives times in every unit, rounded down', async () => {
    const units: readonly (readonly [string, string])[] = [
      ['ns', '3000000532000000001'],
      ['n', '3000000532000000001'],
      ['u', '3000000532000000'],
      ['µ', '3000000532000000'],
      ['us', '3000000532000000'],
      ['ms', '3000000532000'],
      ['s', '3000000532'],
      ['m', '50000008'],
      ['h', '833333'],
      ['d', '34722'],
      ['w', '4960'],
    ];
    for (const [epoch, time] of units) {
      const response = await get({ db: 'v1', epoch, q: 'SELECT n FROM cpu LIMIT 1 OFFSET 1' });
      assertText(
        response,
        `{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","n"],"values":[[${time},9223372036854775807]]}]}]}\n`,
      );
    }
    const written = await server.http.send('/write?db=fractions', {
      body: 't v=1 1500000000500000000',
    });
    assert.equal(written.status, 204, written.text);
    // As in 1.x, times have as many digits as they need.
    for (const [zone, time] of [
      ['', '2017-07-14T02:40:00.5Z'],
      [" tz('Europe/Berlin')", '2017-07-14T04:40:00.5+02:00'],
    ] as const) {
      const { text } = await get({ db: 'fractions', q: `SELECT v FROM t${zone}` });
      assert.ok(text.includes(`"values":[["${time}",1]]`), text);
    }
    const bad = await get({ db: 'v1', epoch: 'y', q: Q });
    assert.equal(bad.status, 400);
    assert.match(bad.text, /error decoding params from url: unknown variant `y`/);
  });

  it('V-05 breaks JSON into lines', async () => {
    assertText(
      await get({ db: 'v1', q: 'SELECT n FROM cpu WHERE n < 2', epoch: 's', pretty: 'true' }),
      `{
  "results": [
    {
      "statement_id": 0,
      "series": [
        {
          "name": "cpu",
          "columns": [
            "time",
            "n"
          ],
          "values": [
            [
              3000000531,
              1
            ]
          ]
        }
      ]
    }
  ]
}
`,
    );
  });

  it('V-05 answers CSV with name and tags', async () => {
    for (const accept of ['application/csv', 'text/csv']) {
      const response = await get(
        { db: 'v1', q: 'SELECT sum(usage) FROM cpu GROUP BY host; SELECT x y; SELECT n FROM cpu' },
        { accept },
      );
      // The complete text is not valid InfluxQL.
      assert.equal(response.status, 400);
      assert.equal(response.headers['content-type'], 'application/csv');
      assert.match(
        response.text,
        /^error\n"?error in InfluxQL statement: parsing error: [^\n]+\n$/,
      );
      assertText(
        await get(
          {
            db: 'v1',
            epoch: 's',
            q: 'SELECT sum(usage) FROM cpu GROUP BY host; SELECT foo(n) FROM cpu; SELECT n FROM cpu WHERE n < 2',
          },
          { accept },
        ),
        'name,tags,time,sum\ncpu,host=a,0,0.9\ncpu,host=b,0,7.5\n\nname,tags,time,n\ncpu,,3000000531,1\n',
        'application/csv',
      );
    }
  });

  it('V-05 returns a syntax error as a CSV table', async () => {
    const accept = { accept: 'text/csv, application/json;q=0.5' };
    const table = async (params: Readonly<Record<string, string>>): Promise<string> => {
      const { status, text } = await get({ db: 'v1', ...params }, accept);
      assert.equal(status, 400, text);
      return text;
    };
    const of = 'error\n"?error in InfluxQL statement: parsing error: ';
    assert.match(await table({ q: 'SELECT' }), new RegExp(`^${of}`));
    assert.match(await table({ q: 'SELECT n FROM', chunked: 'true' }), new RegExp(`^${of}`));
    assert.match(
      await table({ q: 'SELECT n FRM cpu', epoch: 's', pretty: 'true' }),
      new RegExp(`^${of}`),
    );
    assert.match(await table({ q: 'SHOW TAG VALUES FROM "a,b"' }), new RegExp(`^${of}[^\\n]*\\n$`));
    // A statement that fails at run time is omitted here; JSON contains both.
    assertText(await get({ db: 'v1', q: 'SELECT foo(n) FROM cpu' }, accept), '', 'application/csv');
    assert.equal((await get({ db: 'v1', q: 'SELECT' }, {})).status, 200);
  });

  it('V-06 refuses an Accept that it cannot answer', async () => {
    const other = await get({ db: 'v1', q: Q }, { accept: 'application/toml' });
    assert.equal(other.status, 400);
    assert.equal(
      (JSON.parse(other.text) as { error: string }).error,
      'invalid mime type (application/toml)',
    );
    const broken = await get({ db: 'v1', q: Q }, { accept: 'application/\u00ff' });
    assert.equal(broken.status, 400);
    assert.match(broken.text, /Invalid UTF8/);
    const page = await get({ db: 'v1', q: Q }, { accept: 'text/html' });
    assert.equal(page.status, 400);
    assert.equal(JSON.parse(page.text).error, 'invalid mime type (text/html)');
  });

  it('answers an infinity with the failure of the real server', async () => {
    assertText(
      await get({ db: 'v1', q: 'SELECT ln(n - 1) FROM cpu WHERE n = 1' }),
      '{"error":"json: unsupported value: -Inf"}\n',
    );
  });

  it('answers at any number of requests: each gives its place back', async () => {
    for (let i = 0; i < 150; i++) {
      const response = await get({ db: 'v1', q: i % 2 === 0 ? Q : 'SELECT foo(n) FROM cpu' });
      assert.equal(response.status, 200);
    }
  });
});

describe('statements about the server', () => {
  it('create databases with retention policies, to which clients write', async () => {
    const ok = async (q: string) =>
      assertText(
        await post('', '', `?${new URLSearchParams({ q })}`),
        '{"results":[{"statement_id":0}]}\n',
      );
    await ok('CREATE DATABASE pol');
    await ok('CREATE RETENTION POLICY week ON pol DURATION 7d REPLICATION 1');
    const written = await server.http.send('/write?db=pol&rp=week', { body: 'm v=1' });
    assert.equal(written.status, 204, written.text);
    for (const [db, from] of [
      ['', 'pol.week.m'],
      ['pol', 'week.m'],
    ] as const) {
      const { text } = await get({ db, q: `SELECT count(v) FROM ${from}` });
      assert.match(text, /"values":\[\["1970-01-01T00:00:00Z",1\]\]/);
    }
  });

  it('lists no users, continuous queries and subscriptions: there are none, but their columns', async () => {
    const q = 'SHOW USERS; SHOW SUBSCRIPTIONS; SHOW CONTINUOUS QUERIES';
    assert.equal((await get({ q: 'CREATE DATABASE none' })).status, 200);
    const whole = await get({ q });
    assert.ok(
      whole.text.startsWith(
        '{"results":[{"statement_id":0,"series":[{"columns":["user","admin"]}]},{"statement_id":1},{"statement_id":2,"series":[{"name":"_internal","columns":["name","query"]},',
      ),
      whole.text,
    );
    assert.match(whole.text, /,\{"name":"none","columns":\["name","query"\]\}/);
    assert.ok(whole.text.endsWith('"columns":["name","query"]}]}]}\n'), whole.text);
    const chunked = await get({ q: 'SHOW USERS', chunked: 'true', chunk_size: '1' });
    assert.equal(
      chunked.text,
      '{"results":[{"statement_id":0,"series":[{"columns":["user","admin"]}]}]}\n',
    );
    const chunks = (await get({ q: 'SHOW CONTINUOUS QUERIES', chunked: 'true' })).text;
    const series = chunks
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).results[0].series[0]);
    assert.deepEqual(series[0], { name: '_internal', columns: ['name', 'query'] });
    assert.ok(series.some(({ name }) => name === 'none'));
    const csv = await get({ q: 'SHOW USERS' }, { accept: 'application/csv' });
    assert.equal(csv.text, 'name,tags,user,admin\n');
    // Recorded from the original server; MessagePack contains `values` even when there are none.
    const packed = Buffer.from(
      '81a7726573756c74739182ac73746174656d656e745f696400a67365726965739182a7636f6c756d6e7392a475736572a561646d696ea676616c75657390',
      'hex',
    );
    for (const more of [{}, { chunked: 'true' }]) {
      const response = await get({ q: 'SHOW USERS', ...more }, { accept: 'application/x-msgpack' });
      assert.deepEqual(response.bytes, packed);
    }
  });

  it('list running statements', async () => {
    const { results } = JSON.parse((await get({ db: 'v1', q: 'SHOW QUERIES' })).text) as {
      results: [{ series: [{ columns: string[]; values: unknown[][] }] }];
    };
    assert.deepEqual(results[0].series[0].columns, [
      'qid',
      'query',
      'database',
      'duration',
      'status',
    ]);
    assert.equal(results[0].series[0].values[0]?.[1], 'SHOW QUERIES');
  });
});

describe('/query in system.queries', () => {
  /** Returns the final phase of the newest request. */
  const phase = async (): Promise<unknown> => {
    const q =
      "SELECT phase FROM system.queries WHERE query_type = 'influxql' ORDER BY issue_time DESC LIMIT 1";
    const response = await server.http.send(
      `/api/v3/query_sql?${new URLSearchParams({ db: 'v1', q, format: 'csv' })}`,
    );
    return response.text.split('\n')[1]?.trim();
  };
  const formats = [{}, { accept: 'application/csv' }, { accept: 'application/x-msgpack' }];
  const forms = [{}, { pretty: 'true' }, { chunked: 'true' }];

  it('V-01 shows an answer that was handed out whole as success, not as cancel', async () => {
    // Aggregates, several statements, rows and lists: each uses another code path.
    const shapes = [
      'SELECT median(usage) FROM cpu',
      `${Q};${Q}`,
      'SELECT * FROM cpu',
      'SHOW SERIES',
    ];
    for (const q of shapes) {
      for (const headers of formats) {
        for (const form of forms) {
          assert.equal((await get({ db: 'v1', q, ...form }, headers)).status, 200);
          assert.equal(await phase(), 'success', JSON.stringify([q, form, headers]));
        }
      }
    }
  });

  it('V-01 shows an answer that tells of a failed statement as fail', async () => {
    for (const headers of formats) {
      for (const form of forms) {
        const q = `${Q};GRANT ALL TO x`;
        assert.equal((await get({ db: 'v1', q, ...form }, headers)).status, 200);
        assert.equal(await phase(), 'fail', JSON.stringify([form, headers]));
      }
    }
  });
});
