import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { classifyFailure, toQueryError } from './engine-failure.js';

const failureText = (message: string): string => classifyFailure(message).text;

describe('a DuckDB failure', () => {
  const reads = (message: string, words: string) =>
    assert.equal(failureText(message), words, message);

  // Source: query-languages, "Types and casts" and "Numbers".
  it('quotes only the start and end of a long value', () => {
    const text = failureText(
      `Conversion Error: Could not convert string '${'x'.repeat(6_000_000)}' to INT32`,
    );
    assert.ok(text.length < 1100, `${text.length} characters`);
    assert.match(text, /^Cast error: Cannot cast string 'x+…x+' to value of Int32 type$/);
  });

  it('is reported in the words of the specification', () => {
    reads(
      'Invalid Input Error: Arrow error: Divide by zero error',
      'Arrow error: Divide by zero error',
    );
    reads(
      'Out of Range Error: Overflow in addition of INT64 (9223372036854775807 + 1)!',
      'Arrow error: Arithmetic overflow: Overflow happened on: 9223372036854775807 + 1',
    );
    reads(
      "Conversion Error: Type INT64 with value 300 can't be cast because the value is out of range for the destination type INT8 when casting from source column c0\n\nLINE 1: SELECT",
      "Cast error: Can't cast value 300 to type Int8",
    );
    reads(
      "Conversion Error: Could not convert string 'x' to BOOL when casting from source column s",
      "Cast error: Cannot cast string 'x' to value of Boolean type",
    );
    reads(
      'Conversion Error: Could not convert string "x" to DECIMAL(10,2)',
      "Cast error: Cannot cast string 'x' to value of Decimal128(10, 2) type",
    );
    reads(
      'Conversion Error: invalid date field format: "12", expected format is (YYYY-MM-DD)',
      "Cast error: Cannot cast string '12' to value of Date32 type",
    );
    reads(
      'Invalid Input Error: missing ): (',
      'Execution error: Regular expression did not compile: missing ): (',
    );
  });

  it('shows no file names, generated names or DuckDB wording', () => {
    const secret = (message: string) =>
      assert.doesNotMatch(failureText(message), /c0|r1|\/data|duck|INTERNAL|binder/i, message);
    secret('Binder Error: Referenced column "r1.c0" not found in FROM clause!');
    secret(
      'INTERNAL Error: Attempted to access index 0 within vector of size 0\nStack Trace: /data/lib.so',
    );
    secret('IO Error: Cannot open file "/data/segments/c0.parquet": No such file or directory');
    secret(
      "Out of Memory Error: failed to offload data block of size 256.0 KiB (/data/spill). This limit was set by the 'max_temp_directory_size' setting.",
    );
    secret(
      'Out of Memory Error: could not allocate block of size 256.0 KiB (64.0 MiB/64.0 MiB used)',
    );
    secret('FATAL Error: /data/x duckdb');
  });

  it('classifies unknown wording of errors that only values can cause', () => {
    const text = 'Arrow error: Arithmetic overflow: a value is out of range';
    assert.equal(failureText('Out of Range Error: words that no row has'), text);
    assert.equal(failureText('Conversion Error: some timestamp that no row has'), text);
    assert.equal(
      failureText('Conversion Error: words that no row has'),
      'Arrow error: Cast error: a value cannot be cast',
    );
  });

  it("is the statement's error for values, and the server's for memory, files and bugs", () => {
    const isOf = (message: string, kind: ReturnType<typeof classifyFailure>['kind']) =>
      assert.equal(classifyFailure(message).kind, kind, message);
    isOf('Invalid Input Error: Arrow error: Divide by zero error', 'execution_error');
    isOf('Out of Range Error: Overflow in division of 1 / 0', 'execution_error');
    isOf('Conversion Error: words that no row has', 'execution_error');
    isOf('Invalid Input Error: Resources exhausted: a pattern is too long', 'execution_error');
    isOf('Out of Memory Error: could not allocate block of size 256.0 KiB', 'query_out_of_memory');
    isOf('could not allocate block of size 256.0 KiB (1/1 used)', 'query_out_of_memory');
    isOf('Invalid Error: failed to pin block of size 256.0 KiB', 'query_out_of_memory');
    isOf('failed to pin block: max_temp_directory_size', 'query_out_of_memory');
    isOf(
      "Conversion Error: Could not convert string 'could not allocate block' to INT32",
      'execution_error',
    );
    isOf('IO Error: Cannot open file "/data/c0.parquet"', 'query_failed');
    isOf('INTERNAL Error: Attempted to access index 0', 'query_failed');
    isOf('Binder Error: Referenced column "r1.c0" not found', 'query_failed');
    isOf('Binder Error: RANGE frames must have only one ORDER BY expression', 'not_implemented');
    isOf('Binder Error: UNNEST not supported here', 'not_implemented');
    isOf('Binder Error: subqueries in lambda expressions are not supported', 'not_implemented');
    isOf('Binder Error: Referenced table "r1" not found!', 'not_implemented');
    isOf('Serialization Error: Cannot copy BoundSubqueryExpression', 'not_implemented');
    isOf('Not implemented Error: UNNEST', 'not_implemented');
    isOf('Parser Error: syntax error at or near "FROM"', 'query_failed');
    isOf('Failed to extract statements: Parser Error: syntax error', 'query_failed');
    isOf('Serialization Error: Failed to deserialize', 'query_failed');
    isOf('Binder Error: Table "r" does not have a column named "c7"', 'query_failed');
    isOf('Binder Error: Table "r" does not have a column named "not supported"', 'query_failed');
    isOf(
      "Binder Error: No function matches the given name and argument types '-(VARCHAR)'",
      'query_failed',
    );
    isOf('INTERRUPT Error: Interrupted!', 'query_failed');
  });

  it('is a domain error, or the abort reason after the client disconnected', () => {
    const signal = new AbortController().signal;
    assert.ok(tsdbError.is(toQueryError(new Error('x'), signal), 'query_failed'));
    assert.ok(tsdbError.is(toQueryError(tsdbError('plan_error', 'x'), signal), 'plan_error'));
    assert.ok(tsdbError.is(toQueryError(new Error('x'), AbortSignal.abort()), 'query_cancelled'));
  });
});
