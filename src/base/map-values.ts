/** A record with the same keys and other values. */
export const mapValues = <Key extends string, Value, Result>(
	record: Readonly<Record<Key, Value>>,
	resultOf: (value: Value, key: Key) => Result,
): Record<Key, Result> =>
	Object.fromEntries(
		Object.entries<Value>(record).map(([key, value]) => [key, resultOf(value, key as Key)]),
	) as Record<Key, Result>;
