import { assertNever } from '@plinth/kernel';
import type { TimeUnit as SqlTimeUnit } from '@plinth/tsdb-model/sql-type.js';
import { Binary } from 'apache-arrow/fb/binary';
import { Bool } from 'apache-arrow/fb/bool';
import { Date as ArrowDate } from 'apache-arrow/fb/date';
import { DateUnit } from 'apache-arrow/fb/date-unit';
import { Decimal } from 'apache-arrow/fb/decimal';
import { Duration } from 'apache-arrow/fb/duration';
import { Endianness } from 'apache-arrow/fb/endianness';
import { Field } from 'apache-arrow/fb/field';
import { FloatingPoint } from 'apache-arrow/fb/floating-point';
import { Int } from 'apache-arrow/fb/int';
import { Interval } from 'apache-arrow/fb/interval';
import { IntervalUnit } from 'apache-arrow/fb/interval-unit';
import { KeyValue } from 'apache-arrow/fb/key-value';
import { List } from 'apache-arrow/fb/list';
import { Map as ArrowMap } from 'apache-arrow/fb/map';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { MetadataVersion } from 'apache-arrow/fb/metadata-version';
import { Null } from 'apache-arrow/fb/null';
import { Precision } from 'apache-arrow/fb/precision';
import { Schema } from 'apache-arrow/fb/schema';
import { Struct_ } from 'apache-arrow/fb/struct-';
import { Time } from 'apache-arrow/fb/time';
import { TimeUnit } from 'apache-arrow/fb/time-unit';
import { Timestamp } from 'apache-arrow/fb/timestamp';
import { Type } from 'apache-arrow/fb/type';
import { Union } from 'apache-arrow/fb/union';
import { UnionMode } from 'apache-arrow/fb/union-mode';
import { Utf8 } from 'apache-arrow/fb/utf8';
import { Builder, type Offset } from 'flatbuffers';
import { type ArrowField, type ArrowType, type KeyValuePair, plainField } from './arrow-field.js';

const UNIT: Readonly<Record<SqlTimeUnit, TimeUnit>> = {
  s: TimeUnit.SECOND,
  ms: TimeUnit.MILLISECOND,
  us: TimeUnit.MICROSECOND,
  ns: TimeUnit.NANOSECOND,
};

/**
 * Returns the schema message of an Arrow stream, without its frame. Tags are plain strings; no
 * dictionaries follow.
 * Source: Arrow columnar format, "Schema message".
 */
export function schemaMessage(
  fields: readonly ArrowField[],
  metadata: readonly KeyValuePair[] = [],
): Uint8Array {
  const builder = new Builder(1024);
  const offsets = fields.map((field) => writeField(builder, field));
  const children = Schema.createFieldsVector(builder, offsets);
  const pairs = Schema.createCustomMetadataVector(builder, writePairs(builder, metadata));
  const schema = Schema.createSchema(builder, Endianness.Little, children, pairs, 0);
  const version = MetadataVersion.V5;
  builder.finish(Message.createMessage(builder, version, MessageHeader.Schema, schema, 0n, 0));
  return builder.asUint8Array();
}

/**
 * Frames a message for streams outside of Flight: continuation marker, length, padding to 8 bytes.
 */
export function encapsulated(message: Uint8Array): Uint8Array {
  const size = (message.length + 7) & ~7;
  const framed = Buffer.alloc(8 + size);
  framed.writeUInt32LE(0xffffffff, 0);
  framed.writeUInt32LE(size, 4);
  framed.set(message, 8);
  return framed;
}

/** @param isEntries true for the pairs of a map, whose keys are never NULL. */
function writeField(
  builder: Builder,
  { name, type, isNullable, metadata }: ArrowField,
  isEntries = false,
): Offset {
  const nameOffset = builder.createString(name);
  const children = childrenOf(type).map((child, index) => {
    const isKey = isEntries && index === 0;
    return writeField(builder, isKey ? { ...child, isNullable: false } : child, isMap(type));
  });
  const childrenOffset = Field.createChildrenVector(builder, children);
  const pairs = writePairs(builder, metadata);
  const metadataOffset = pairs.length === 0 ? 0 : Field.createCustomMetadataVector(builder, pairs);
  const { tag, offset } = writeType(builder, type);
  Field.startField(builder);
  Field.addName(builder, nameOffset);
  Field.addNullable(builder, isNullable);
  Field.addTypeType(builder, tag);
  Field.addType(builder, offset);
  Field.addChildren(builder, childrenOffset);
  if (metadataOffset !== 0) Field.addCustomMetadata(builder, metadataOffset);
  return Field.endField(builder);
}

function writePairs(builder: Builder, pairs: readonly KeyValuePair[]): Offset[] {
  return pairs.map(([key, value]) =>
    KeyValue.createKeyValue(builder, builder.createString(key), builder.createString(value)),
  );
}

const isMap = (type: ArrowType): boolean => type.kind === 'map';

function childrenOf(type: ArrowType): readonly ArrowField[] {
  switch (type.kind) {
    case 'list':
      return [plainField('item', type.element)];
    case 'union':
      return type.members.map((member) => plainField(member.name, member.type));
    case 'struct':
      return type.fields.map((field) => plainField(field.name, field.type));
    case 'map': {
      const key = { name: 'key', type: type.key };
      const value = { name: 'value', type: type.value };
      const entries = plainField('entries', { kind: 'struct', fields: [key, value] }, false);
      return [entries];
    }
    default:
      return [];
  }
}

function writeType(
  builder: Builder,
  type: ArrowType,
): { readonly tag: Type; readonly offset: Offset } {
  switch (type.kind) {
    case 'null':
      return { tag: Type.Null, offset: empty(builder, Null.startNull, Null.endNull) };
    case 'boolean':
      return { tag: Type.Bool, offset: empty(builder, Bool.startBool, Bool.endBool) };
    case 'int':
      return { tag: Type.Int, offset: Int.createInt(builder, type.bits, type.signed) };
    case 'float': {
      const precision = type.bits === 32 ? Precision.SINGLE : Precision.DOUBLE;
      const offset = FloatingPoint.createFloatingPoint(builder, precision);
      return { tag: Type.FloatingPoint, offset };
    }
    case 'decimal': {
      const offset = Decimal.createDecimal(builder, type.precision, type.scale, 128);
      return { tag: Type.Decimal, offset };
    }
    case 'utf8':
    case 'tag':
      return { tag: Type.Utf8, offset: empty(builder, Utf8.startUtf8, Utf8.endUtf8) };
    case 'binary':
      return { tag: Type.Binary, offset: empty(builder, Binary.startBinary, Binary.endBinary) };
    case 'date':
      return { tag: Type.Date, offset: ArrowDate.createDate(builder, DateUnit.DAY) };
    case 'time':
      return { tag: Type.Time, offset: Time.createTime(builder, TimeUnit.NANOSECOND, 64) };
    case 'time_ms':
      return { tag: Type.Time, offset: Time.createTime(builder, TimeUnit.MILLISECOND, 32) };
    case 'timestamp': {
      const zone = type.zone === undefined ? 0 : builder.createString(type.zone);
      const offset = Timestamp.createTimestamp(builder, UNIT[type.unit], zone);
      return { tag: Type.Timestamp, offset };
    }
    case 'duration':
      return { tag: Type.Duration, offset: Duration.createDuration(builder, TimeUnit.NANOSECOND) };
    case 'interval': {
      const offset = Interval.createInterval(builder, IntervalUnit.MONTH_DAY_NANO);
      return { tag: Type.Interval, offset };
    }
    case 'list':
      return { tag: Type.List, offset: empty(builder, List.startList, List.endList) };
    case 'struct': {
      const offset = empty(builder, Struct_.startStruct_, Struct_.endStruct_);
      return { tag: Type.Struct_, offset };
    }
    case 'map':
      return { tag: Type.Map, offset: ArrowMap.createMap(builder, false) };
    case 'union': {
      const ids = Union.createTypeIdsVector(
        builder,
        type.members.map((_, index) => index),
      );
      return { tag: Type.Union, offset: Union.createUnion(builder, UnionMode.Dense, ids) };
    }
    default:
      return assertNever(type);
  }
}

/** Writes a table without fields. */
function empty(
  builder: Builder,
  start: (builder: Builder) => void,
  end: (builder: Builder) => Offset,
): Offset {
  start(builder);
  return end(builder);
}
