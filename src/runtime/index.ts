export { programs } from "./programs.js";
export {
	type Data,
	type Feeds,
	next,
	type Program,
	type Provider,
	providers,
	type Resident,
	type ResidentValue,
	type Runtime,
} from "./runtime.js";
