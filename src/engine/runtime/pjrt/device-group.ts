import { InputError } from "../../../base/errors.js";
import type { FixedShape } from "../../tensor/index.js";
import { type Data, dtypeOf } from "../runtime.js";
import type { Client, Device, DeviceBuffer } from "./client.js";
import { PjrtError } from "./native.js";

/** Devices that run each program at the same time. Out of memory is an `InputError` here. */
export class DeviceGroup {
	constructor(
		readonly client: Client,
		readonly devices: readonly [Device, ...Device[]],
	) {}

	/** Copies data to each device, or those of its own if there is one array per device. */
	upload(data: Data | readonly Data[], shape: FixedShape): DeviceBuffer[] {
		const made: DeviceBuffer[] = [];
		try {
			for (const [i, device] of this.devices.entries()) {
				const own = ArrayBuffer.isView(data) ? data : data[i];
				made.push(this.client.upload(device, own, dtypeOf(own), shape));
			}
			return made;
		} catch (error) {
			for (const buffer of made) buffer.destroy();
			throw this.explained(error, "copying a tensor to it");
		}
	}

	download(copies: Parameters<Client["download"]>[0]): Promise<void> {
		return this.client.download(copies).catch((error) => {
			throw this.explained(error, "running a program");
		});
	}

	/** An error that a user can act on, if it is one. */
	explained(error: unknown, doing: string): unknown {
		if (!(error instanceof PjrtError && error.outOfMemory)) return error;
		const [device] = this.devices;
		const { inUse, limit } = this.client.memory(device) ?? {};
		const memory =
			inUse === undefined || limit === undefined
				? ""
				: ` (${gibibytes(inUse)} of ${gibibytes(limit)} GiB in use)`;
		const [reason = ""] = error.message.split("\n");
		return new InputError(
			`${device.kind} is out of memory${memory} while ${doing}: ${reason.slice(0, 300)}; lower \`batchSlots\` or \`maxLength\`, choose a smaller \`preset\`, or end other programs that use the device`,
			{ cause: error },
		);
	}
}

const gibibytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
