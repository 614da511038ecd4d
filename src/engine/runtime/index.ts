export { checkedRuntime } from "./checked.js";
export { programs, started } from "./programs.js";
export {
	type Data,
	type Feeds,
	next,
	type Pending,
	type Program,
	type Provider,
	precisions,
	providers,
	type Resident,
	type ResidentValue,
	type Runtime,
	recordedProviders,
} from "./runtime.js";
