/* Own declarations of the names that CUPTI's headers take from cuda.h, so that they compile where
 * no CUDA toolkit is installed. Of structures only pointers are used there, but for CUuuid. */
#ifndef STAND_IN_CUDA_H_
#define STAND_IN_CUDA_H_

typedef struct StandInContext* CUcontext;
typedef struct StandInStream* CUstream;
typedef struct StandInEvent* CUevent;
typedef struct StandInGraph* CUgraph;
typedef struct StandInGraphExec* CUgraphExec;
typedef struct StandInGraphNode* CUgraphNode;
typedef struct StandInPolicyWindow CUaccessPolicyWindow;
typedef struct StandInStreamAttribute CUstreamAttrValue;
typedef struct StandInUuid {
  char bytes[16];
} CUuuid;
typedef int CUdevice;
typedef enum { STAND_IN_DEVICE_ATTRIBUTE } CUdevice_attribute;
typedef enum { STAND_IN_GRAPH_NODE_TYPE } CUgraphNodeType;
typedef enum { STAND_IN_STREAM_ATTRIBUTE } CUstreamAttrID;

#endif /* STAND_IN_CUDA_H_ */
