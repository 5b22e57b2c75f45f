/** HTTP client for the demo and the benchmarks. A failed call throws with the server's error message. */
export class HttpClient {
  #url;
  #token;

  constructor(url, token) {
    this.#url = url;
    this.#token = token;
  }

  withToken(token) {
    return new HttpClient(this.#url, token);
  }

  withUrl(url) {
    return new HttpClient(url, this.#token);
  }

  async call(method, path, options) {
    const response = await this.#send(method, path, options);
    return { status: response.status, text: await response.text() };
  }

  /** @returns the response of a GET request, whose body is not read yet. */
  async open(path, options) {
    const response = await this.#send('GET', path, options);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async #send(method, path, { query = {}, body, headers = {} } = {}) {
    const url = new URL(path, this.#url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (this.#token !== undefined) headers.authorization = `Bearer ${this.#token}`;
    return await fetch(url, { method, body, headers });
  }

  async createAdminToken() {
    const { status, text } = await this.call('POST', '/api/v3/configure/token/admin');
    if (status !== 201) throw new Error(`create admin token: ${status} ${text}`);
    return JSON.parse(text).token;
  }

  async write(db, lines, precision) {
    const answer = await this.call('POST', '/api/v3/write_lp', {
      query: { db, precision },
      body: lines,
    });
    if (answer.status !== 204)
      throw new Error(`write: ${answer.status} ${answer.text.slice(0, 500)}`);
  }

  /** @returns the rows as objects. */
  async query(db, q, params) {
    const { status, text } = await this.call('POST', '/api/v3/query_sql', {
      body: JSON.stringify({ db, q, format: 'jsonl', ...(params && { params }) }),
      headers: { 'content-type': 'application/json' },
    });
    if (status !== 200) throw new Error(`query: ${status} ${text.slice(0, 500)}\n  ${q}`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}
