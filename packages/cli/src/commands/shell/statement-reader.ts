/** Collects lines into statements. A semicolon outside quotes ends a statement. */
export class StatementReader {
  #text = '';

  /** True within an incomplete statement. */
  get isOpen(): boolean {
    return this.#text.trim() !== '';
  }

  /** @returns the statements completed by the line, without semicolons */
  add(line: string): string[] {
    this.#text += this.#text === '' ? line : `\n${line}`;
    const statements: string[] = [];
    for (let end = endOf(this.#text); end >= 0; end = endOf(this.#text)) {
      const statement = this.#text.slice(0, end).trim();
      this.#text = this.#text.slice(end + 1);
      if (statement !== '') statements.push(statement);
    }
    if (this.#text.trim() === '') this.#text = '';
    return statements;
  }

  clear(): void {
    this.#text = '';
  }

  /** The incomplete statement. */
  rest(): string {
    return this.#text.trim();
  }
}

function endOf(text: string): number {
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string; // below its length
    if (quote !== '') {
      if (character === '\\') i++;
      else if (character === quote) quote = '';
    } else if (character === "'" || character === '"') quote = character;
    else if (character === ';') return i;
  }
  return -1;
}
