/** `CompileOptionsProto` of XLA, for a program that runs on each of the devices, given by id. */
export function compileOptions(devices: readonly number[]): Uint8Array {
	// DeviceAssignmentProto: replica_count = 1, computation_count = 2, computation_devices = 3.
	const assignment = [
		...number(1, devices.length),
		...number(2, 1),
		...message(3, message(1, devices.flatMap(varint))),
	];
	// ExecutableBuildOptionsProto: num_replicas = 4, num_partitions = 5, device_assignment = 9.
	const build = [...number(4, devices.length), ...number(5, 1), ...message(9, assignment)];
	// CompileOptionsProto: executable_build_options = 3.
	return Uint8Array.from(message(3, build));
}

function varint(value: number): number[] {
	return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

const number = (field: number, value: number) => [...varint(field << 3), ...varint(value)];

const message = (field: number, bytes: readonly number[]) => [
	...varint((field << 3) | 2),
	...varint(bytes.length),
	...bytes,
];
