/**
 * The binary layout of the PJRT C API, version 0.114, on 64-bit machines: offsets in bytes. Structs only grow at
 * their end, and a plugin ignores what lies beyond its own: an older plugin can be called with these.
 */

/** The functions of `PJRT_Api` that are used. Each takes one pointer to its arguments and returns an error or null. */
export const slots = {
	Error_Destroy: 40,
	Error_Message: 48,
	Error_GetCode: 56,
	Plugin_Initialize: 64,
	Plugin_Attributes: 72,
	Event_Destroy: 80,
	Event_IsReady: 88,
	Event_Await: 104,
	Client_Create: 120,
	Client_Destroy: 128,
	Client_PlatformName: 136,
	Client_PlatformVersion: 152,
	Client_AddressableDevices: 168,
	Client_Compile: 200,
	Client_BufferFromHostBuffer: 216,
	DeviceDescription_Id: 224,
	DeviceDescription_Kind: 248,
	Device_GetDescription: 272,
	Device_MemoryStats: 312,
	Executable_Destroy: 360,
	Executable_NumOutputs: 392,
	Executable_Serialize: 432,
	LoadedExecutable_Destroy: 440,
	LoadedExecutable_GetExecutable: 448,
	LoadedExecutable_Execute: 480,
	Executable_DeserializeAndLoad: 488,
	Buffer_Destroy: 504,
	Buffer_ToHostBuffer: 600,
} as const;
export type Slot = keyof typeof slots;

/** `PJRT_Api` itself, before the functions. */
export const apiFields = { structSize: 0, majorVersion: 32, minorVersion: 36 } as const;

/** The version from which on `PJRT_Api` has the order above (December 2024). */
export const oldestMinorVersion = 57;

const destroy = { size: 24, handle: 16 } as const;
const text = { size: 40, of: 16, text: 24, length: 32 } as const;

/** The arguments of each function: the size of the struct, and the offsets of its fields. */
export const structs = {
	Error_Destroy: destroy,
	Error_Message: text,
	Error_GetCode: { size: 32, error: 16, code: 24 },
	Plugin_Initialize: { size: 16 },
	Plugin_Attributes: { size: 32, attributes: 16, count: 24 },
	Event_Destroy: destroy,
	Event_IsReady: { size: 32, event: 16, isReady: 24 },
	Event_Await: { size: 24, event: 16 },
	Client_Create: { size: 88, options: 16, optionCount: 24, client: 64 },
	Client_Destroy: destroy,
	Client_PlatformName: text,
	Client_PlatformVersion: text,
	Client_AddressableDevices: { size: 40, client: 16, devices: 24, count: 32 },
	Client_Compile: {
		...{ size: 56, client: 16, program: 24 },
		...{ options: 32, optionsSize: 40, executable: 48 },
	},
	Client_BufferFromHostBuffer: {
		...{ size: 120, client: 16, data: 24, type: 32, dims: 40, dimCount: 48 },
		...{ semantics: 72, device: 80, doneWithHostBuffer: 104, buffer: 112 },
	},
	DeviceDescription_Id: { size: 32, description: 16, id: 24 },
	DeviceDescription_Kind: text,
	Device_GetDescription: { size: 32, device: 16, description: 24 },
	Device_MemoryStats: {
		...{ size: 208, device: 16, bytesInUse: 24 },
		...{ peakBytesInUse: 32, hasPeak: 40, bytesLimit: 80, hasLimit: 88 },
	},
	Executable_Destroy: destroy,
	Executable_NumOutputs: { size: 32, executable: 16, count: 24 },
	Executable_Serialize: {
		...{ size: 56, executable: 16, bytes: 24, byteCount: 32 },
		...{ serialized: 40, deleter: 48 },
	},
	LoadedExecutable_Destroy: destroy,
	LoadedExecutable_GetExecutable: { size: 32, loaded: 16, executable: 24 },
	LoadedExecutable_Execute: {
		...{ size: 80, executable: 16, options: 24 },
		...{ argumentLists: 32, deviceCount: 40, argumentCount: 48, outputLists: 56 },
	},
	Executable_DeserializeAndLoad: {
		...{ size: 72, client: 16, bytes: 24, byteCount: 32, executable: 40 },
	},
	Buffer_Destroy: destroy,
	Buffer_ToHostBuffer: { size: 56, source: 16, layout: 24, data: 32, byteCount: 40, event: 48 },
	// Not arguments of a function, but pointed to by arguments.
	NamedValue: { size: 56, name: 16, nameLength: 24, type: 32, value: 40, valueCount: 48 },
	Program: { size: 48, code: 16, codeSize: 24, format: 32, formatSize: 40 },
	ExecuteOptions: { size: 144, keptArguments: 56, keptCount: 64 },
	// Of the type 0, with a struct of the type below at 16.
	MemoryLayout: { size: 80, tiledSize: 16, minorToMajor: 32, minorToMajorCount: 40 },
	MemoryLayoutTiled: { size: 56 },
} as const;
export type Struct = keyof typeof structs;
export type Field<S extends Struct> = Exclude<keyof (typeof structs)[S] & string, "size">;

/** `PJRT_NamedValue_Type`. */
export const valueTypes = { string: 0, int64: 1, int64List: 2, float: 3, bool: 4 } as const;

/** `PJRT_Buffer_Type`. */
export const bufferTypes = { bool: 1, int32: 4, float32: 11, float64: 12 } as const;

/** `PJRT_HostBufferSemantics`: the plugin has copied the data when the call returns. */
export const immutableOnlyDuringCall = 0;

/** `PJRT_Error_Code`, as far as it is looked at. */
export const errorCodes = { invalidArgument: 3, resourceExhausted: 8 } as const;
